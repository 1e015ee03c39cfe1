//! Files and terminals for agents of version 1.

use std::collections::BTreeMap;
use std::process::{Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, Error as WireError, ReadTextFileRequest,
    ReadTextFileResponse, TerminalExitStatus, TerminalId, TerminalOutputResponse,
    WriteTextFileRequest, WriteTextFileResponse,
};
use agent_client_protocol::{Error, Result};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::{Shared, UNPOISONED};

impl Shared {
    pub(super) fn read_file(&self, request: &ReadTextFileRequest) -> Result<ReadTextFileResponse> {
        let files = self.files.lock().expect(UNPOISONED);
        let text = files.get(&request.path).ok_or_else(not_found)?;
        let from = request.line.map_or(0, |line| line.saturating_sub(1));
        let count = request.limit.map_or(usize::MAX, to_usize);
        let lines = text.split_inclusive('\n');
        let wanted: String = lines.skip(to_usize(from)).take(count).collect();
        Ok(ReadTextFileResponse::new(wanted))
    }

    pub(super) fn write_file(
        &self,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse> {
        let mut files = self.files.lock().expect(UNPOISONED);
        files.insert(request.path, request.content);
        Ok(WriteTextFileResponse::new())
    }
}

/// The commands that the agent runs here. Their output is shown when they have ended.
#[derive(Default)]
pub(super) struct Terminals {
    known: Mutex<BTreeMap<String, Terminal>>,
    made: AtomicU32,
}

struct Terminal {
    output: watch::Receiver<Option<Output>>,
    command: AbortHandle,
}

impl Terminals {
    pub(super) fn create(&self, request: &CreateTerminalRequest) -> Result<CreateTerminalResponse> {
        let mut command = Command::new(&request.command);
        command
            .args(&request.args)
            .envs(request.env.iter().map(|var| (&var.name, &var.value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(cwd) = &request.cwd {
            command.current_dir(cwd);
        }
        let child = command.spawn().map_err(Error::into_internal_error)?;
        let (ended, output) = watch::channel(None);
        let command = tokio::spawn(async move {
            // A failure leaves no output, and the waiters see the sender go.
            if let Ok(output) = child.wait_with_output().await {
                ended.send_replace(Some(output));
            }
        });
        let mut known = self.known.lock().expect(UNPOISONED);
        let id = format!("terminal-{}", self.made.fetch_add(1, Ordering::Relaxed));
        let command = command.abort_handle();
        known.insert(id.clone(), Terminal { output, command });
        Ok(CreateTerminalResponse::new(id))
    }

    pub(super) fn output(&self, id: &TerminalId) -> Result<TerminalOutputResponse> {
        let output = self.watch(id)?;
        let output = output.borrow();
        let text = output.as_ref().map(|output| {
            let mut bytes = output.stdout.clone();
            bytes.extend_from_slice(&output.stderr);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let status = output.as_ref().map(status);
        Ok(TerminalOutputResponse::new(text.unwrap_or_default(), false).exit_status(status))
    }

    /// Returns the wait for the command's end.
    pub(super) fn exit(
        &self,
        id: &TerminalId,
    ) -> Result<impl Future<Output = TerminalExitStatus> + Send + use<>> {
        let mut output = self.watch(id)?;
        Ok(async move {
            match output.wait_for(Option::is_some).await.as_deref() {
                Ok(Some(output)) => status(output),
                _ => TerminalExitStatus::new().signal("SIGKILL".to_owned()),
            }
        })
    }

    pub(super) fn kill(&self, id: &TerminalId) -> Result<()> {
        let known = self.known.lock().expect(UNPOISONED);
        known.get(&*id.0).ok_or_else(not_found)?.command.abort();
        Ok(())
    }

    pub(super) fn release(&self, id: &TerminalId) -> Result<()> {
        let mut known = self.known.lock().expect(UNPOISONED);
        known.remove(&*id.0).ok_or_else(not_found)?.command.abort();
        Ok(())
    }

    fn watch(&self, id: &TerminalId) -> Result<watch::Receiver<Option<Output>>> {
        let known = self.known.lock().expect(UNPOISONED);
        let terminal = known.get(&*id.0).ok_or_else(not_found)?;
        Ok(terminal.output.clone())
    }
}

fn status(output: &Output) -> TerminalExitStatus {
    let code = output
        .status
        .code()
        .and_then(|code| u32::try_from(code).ok());
    TerminalExitStatus::new().exit_code(code)
}

fn not_found() -> Error {
    WireError::resource_not_found(None).into()
}

fn to_usize(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
