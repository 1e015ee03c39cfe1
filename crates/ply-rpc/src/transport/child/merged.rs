//! A child that is no peer: what it writes comes as one stream.

use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use tokio::process::ChildStdin;

use super::{Child, Command, Mark, SpawnError, Tail, Tree, leader, set_pipe_bytes, spawn};

/// What a child writes to standard output and standard error, in the order it was written.
pub type Merged = tokio::net::unix::pipe::Receiver;

impl Command {
    /// Starts the command with the null device as its input and both outputs in one pipe.
    ///
    /// The receiver of standard error is not called and [`Child::stderr_tail`] stays empty.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] names the command, the directory and what to do next.
    ///
    /// # Cancel safety
    ///
    /// A child that was started all the same is ended at once.
    pub async fn spawn_merged(self) -> Result<(Child, Merged), SpawnError> {
        let (child, output, _) = self.spawn_into_one_pipe(Stdio::null()).await?;
        Ok((child, output))
    }

    /// Starts the command with both outputs in one pipe, and returns what it reads too.
    ///
    /// Like [`Command::spawn_merged`] otherwise.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] names the command, the directory and what to do next.
    ///
    /// # Cancel safety
    ///
    /// A child that was started all the same is ended at once.
    pub async fn spawn_merged_with_input(self) -> Result<(Child, Merged, ChildStdin), SpawnError> {
        let unpiped = SpawnError::new(
            &self.program,
            self.cwd.as_deref(),
            io::Error::other("the child came without an input"),
        );
        let (child, output, input) = self.spawn_into_one_pipe(Stdio::piped()).await?;
        Ok((child, output, input.ok_or(unpiped)?))
    }

    async fn spawn_into_one_pipe(
        self,
        stdin: Stdio,
    ) -> Result<(Child, Merged, Option<ChildStdin>), SpawnError> {
        let failed = |source| SpawnError::new(&self.program, self.cwd.as_deref(), source);
        let (output, input) = io::pipe().map_err(failed)?;
        if let Err(error) = set_pipe_bytes(&output, self.stdout_pipe_bytes) {
            tracing::debug!(%error, "the pipe keeps its default size");
        }
        let output = Merged::from_owned_fd(output.into()).map_err(failed)?;
        let mark = Mark::fresh();
        let mut command = self.prepared(&mark);
        command
            .stdin(stdin)
            .stdout(input.try_clone().map_err(failed)?)
            .stderr(input);
        let mut process = spawn::on_lasting_thread(command).await.map_err(failed)?;
        let stdin = process.stdin.take();
        let gone = || failed(io::Error::other("the child has no process id"));
        let leader = leader(process.id().ok_or_else(gone)?).map_err(failed)?;
        let child = Child {
            process,
            tree: Tree::new(leader, mark),
            tail: Arc::new(Mutex::new(Tail::new(0))),
            draining: None,
            ended: false,
        };
        Ok((child, output, stdin))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::super::Grace;
    use super::*;

    #[tokio::test]
    async fn both_outputs_come_in_the_order_they_were_written() {
        let script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; cat; echo end";
        let command = Command::new("sh").args(["-c", script]);
        let (mut child, mut output) = command.spawn_merged().await.unwrap();
        let mut text = String::new();
        output.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nend\n");
        assert!(child.end(Grace::default()).await.unwrap().success());
    }

    #[tokio::test]
    async fn the_input_is_the_null_device() {
        let command = Command::new("readlink").arg("/proc/self/fd/0");
        let (mut child, mut output) = command.spawn_merged().await.unwrap();
        let mut text = String::new();
        output.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "/dev/null\n");
        assert!(child.end(Grace::default()).await.unwrap().success());
    }

    #[tokio::test]
    async fn the_input_can_be_a_pipe() {
        let command = Command::new("cat");
        let (mut child, mut output, mut input) = command.spawn_merged_with_input().await.unwrap();
        input.write_all(b"in and out").await.unwrap();
        drop(input);
        let mut text = String::new();
        output.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "in and out");
        assert!(child.end(Grace::default()).await.unwrap().success());
    }
}
