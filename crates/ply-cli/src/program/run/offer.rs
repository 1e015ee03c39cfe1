//! What the run offers to agents of version 1, within what `--permit` allows.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ply_client::text::Line;
use ply_client::{Client, FileService, Files, RpcError, Scope, TerminalService, Terminals, v1};

use super::arguments::Offer;
use super::permit::{Answered, Permit};
use super::subject::{Subject, quoted};

/// Refusals that are kept to be told.
const REFUSALS_MAX: usize = 1000;

/// What was refused to the agent, to be told with the permissions.
#[derive(Debug, Clone, Default)]
pub(super) struct Refusals(Arc<Mutex<Vec<Answered>>>);

impl Refusals {
    fn add(&self, refused: Answered) {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() < REFUSALS_MAX {
            refusals.push(refused);
        }
    }

    /// Takes them all.
    pub(super) fn take(&self) -> Vec<Answered> {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut refusals)
    }
}

/// Offers services, and notes what is refused.
pub(super) fn offer(
    mut client: Client,
    offered: &[Offer],
    permit: &Permit,
    refusals: &Refusals,
) -> Client {
    let guard = Guard {
        permit: permit.clone(),
        refusals: refusals.clone(),
    };
    for service in offered {
        let guard = guard.clone();
        client = match service {
            Offer::Files => client.files(Guarded(guard, Files::new())),
            Offer::Terminals => client.terminals(Guarded(guard, Terminals::new())),
        };
    }
    client
}

/// Asks `--permit`.
#[derive(Debug, Clone)]
struct Guard {
    permit: Permit,
    refusals: Refusals,
}

impl Guard {
    fn check(&self, session: &Scope, subject: Subject) -> Result<(), RpcError> {
        let Some(by) = self.permit.refuses(&subject, session.cwd()) else {
            return Ok(());
        };
        self.refusals.add(Answered {
            title: subject.title,
            kind: subject.kind,
            command: subject.command,
            answer: "reject_once".to_owned(),
            option_id: None,
            by,
        });
        let words = "the user of this client does not allow this; ask for permission first";
        Err(RpcError::new(RpcError::INVALID_REQUEST, words))
    }
}

/// A service that is asked for nothing but what is allowed.
struct Guarded<S>(Guard, S);

impl FileService for Guarded<Files> {
    async fn read_text_file(
        &self,
        session: &Scope,
        request: v1::ReadTextFileRequest,
    ) -> Result<String, RpcError> {
        self.0.check(session, file("Read", "read", &request.path))?;
        FileService::read_text_file(&self.1, session, request).await
    }

    async fn write_text_file(
        &self,
        session: &Scope,
        request: v1::WriteTextFileRequest,
    ) -> Result<(), RpcError> {
        self.0
            .check(session, file("Write", "edit", &request.path))?;
        FileService::write_text_file(&self.1, session, request).await
    }
}

impl TerminalService for Guarded<Terminals> {
    fn fresh(&self) -> Self {
        Self(self.0.clone(), TerminalService::fresh(&self.1))
    }

    async fn create(
        &self,
        session: &Scope,
        request: v1::CreateTerminalRequest,
    ) -> Result<v1::CreateTerminalResponse, RpcError> {
        self.0.check(session, command(&request))?;
        TerminalService::create(&self.1, session, request).await
    }

    async fn output(
        &self,
        request: v1::TerminalOutputRequest,
    ) -> Result<v1::TerminalOutputResponse, RpcError> {
        TerminalService::output(&self.1, request).await
    }

    async fn wait_for_exit(
        &self,
        request: v1::WaitForTerminalExitRequest,
    ) -> Result<v1::WaitForTerminalExitResponse, RpcError> {
        TerminalService::wait_for_exit(&self.1, request).await
    }

    async fn kill(
        &self,
        request: v1::KillTerminalRequest,
    ) -> Result<v1::KillTerminalResponse, RpcError> {
        TerminalService::kill(&self.1, request).await
    }

    async fn release(
        &self,
        request: v1::ReleaseTerminalRequest,
    ) -> Result<v1::ReleaseTerminalResponse, RpcError> {
        TerminalService::release(&self.1, request).await
    }

    async fn end_session(&self, session: &v1::SessionId) {
        TerminalService::end_session(&self.1, session).await;
    }

    async fn end_all(&self) {
        TerminalService::end_all(&self.1).await;
    }
}

/// Returns the use of a file in the words of the rules.
fn file(verb: &str, kind: &str, path: &Path) -> Subject {
    Subject {
        kind: kind.to_owned(),
        title: format!("{verb} {}", Line(&path.to_string_lossy())),
        paths: vec![path.to_owned()],
        changes: kind == "edit",
        ..Subject::default()
    }
}

/// Returns a command in the words of the rules: as the line by which a shell would run the same.
fn command(request: &v1::CreateTerminalRequest) -> Subject {
    // Many programs run what variables say.
    let variables = request.env.iter();
    let variables = variables.map(|it| format!("{}={}", it.name, quoted(&it.value)));
    let words = std::iter::once(&request.command).chain(&request.args);
    let words = words.map(|word| quoted(word));
    let line = variables.chain(words).collect::<Vec<_>>().join(" ");
    Subject {
        kind: "execute".to_owned(),
        title: Line(&line).to_string(),
        command: Some(line),
        cwd: request.cwd.clone(),
        ..Subject::default()
    }
}

#[cfg(test)]
mod tests {
    use ply_client::v2::{PermissionOption, PermissionOptionKind};

    use super::*;
    use crate::program::run::arguments::PermitArgument;
    use crate::program::run::permit::Verdict;

    #[test]
    fn h2_arguments_and_variables_of_a_terminal_are_part_of_its_command() {
        let cwd = std::env::temp_dir();
        let permit = Permit::new(Some(&PermitArgument::Reads), false, cwd.clone()).unwrap();
        let options = [PermissionOption::new(
            "y",
            "x",
            PermissionOptionKind::AllowOnce,
        )];
        let allows = |words: &[&str], variables: &[(&str, &str)]| {
            let (program, arguments) = words.split_first().unwrap();
            let variables = variables.iter();
            let variables = variables.map(|(name, value)| v1::EnvVariable::new(*name, *value));
            let request = v1::CreateTerminalRequest::new("s", *program)
                .args(arguments.iter().map(|word| (*word).to_owned()).collect())
                .env(variables.collect());
            let subject = command(&request);
            let verdict = permit.decide(&subject, &options);
            let allowed = matches!(verdict, Verdict::Answer(Some(_), _));
            assert_eq!(
                allowed,
                permit.refuses(&subject, &cwd).is_none(),
                "{words:?}"
            );
            allowed
        };
        assert!(allows(&["ls", "-l"], &[]));
        assert!(allows(&["echo", "it's; $(all) 'text'", ""], &[]));
        // What looks like a quoted word of a line is two words and an option between them.
        assert!(!allows(
            &["git", "log", "--grep='", "--output=x", "--grep='"],
            &[]
        ));
        assert!(!allows(&["git log"], &[]));
        assert!(!allows(&["ls", "-l"], &[("LD_PRELOAD", "/x/y.so")]));
        assert!(!allows(&["git", "diff"], &[("GIT_EXTERNAL_DIFF", "id")]));
        assert!(!allows(&["ls"], &[("A b", "c"), ("x;id;", "'")]));
    }
}
