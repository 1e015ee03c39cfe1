use std::collections::HashSet;

use serde_json::json;

use super::super::scratch::Scratch;
use super::*;

/// Terminals of one session in a directory of its own.
struct Desk {
    tree: Scratch,
    roots: Roots,
    terminals: Terminals,
}

impl Desk {
    fn new() -> Self {
        Self::with(Terminals::new())
    }

    fn with(terminals: Terminals) -> Self {
        let tree = Scratch::new();
        let roots = tree.roots();
        Self {
            tree,
            roots,
            terminals,
        }
    }

    async fn create(&self, request: v1::CreateTerminalRequest) -> Result<v1::TerminalId, RpcError> {
        let response = within(self.terminals.create(&self.roots, request, unseen())).await;
        response.map(|response| response.terminal_id)
    }

    async fn sh(&self, script: &str) -> v1::TerminalId {
        self.create(sh("s", script)).await.unwrap()
    }

    async fn output(&self, id: &v1::TerminalId) -> Result<v1::TerminalOutputResponse, RpcError> {
        let request = v1::TerminalOutputRequest::new("s", id.clone());
        within(self.terminals.output(request)).await
    }

    async fn wait(&self, id: &v1::TerminalId) -> Result<v1::TerminalExitStatus, RpcError> {
        let request = v1::WaitForTerminalExitRequest::new("s", id.clone());
        let response = within(self.terminals.wait_for_exit(request)).await;
        response.map(|response| response.exit_status)
    }

    async fn kill(&self, id: &v1::TerminalId) -> Result<(), RpcError> {
        let request = v1::KillTerminalRequest::new("s", id.clone());
        within(self.terminals.kill(request)).await.map(drop)
    }

    async fn release(&self, id: &v1::TerminalId) -> Result<(), RpcError> {
        let request = v1::ReleaseTerminalRequest::new("s", id.clone());
        within(self.terminals.release(request)).await.map(drop)
    }

    /// Waits until the command has written `text`.
    async fn written(&self, id: &v1::TerminalId, text: &str) -> String {
        within(async {
            loop {
                let output = self.output(id).await.unwrap().output;
                if output.contains(text) {
                    return output;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }
}

fn sh(session: &str, script: &str) -> v1::CreateTerminalRequest {
    let args = vec!["-c".to_owned(), script.to_owned()];
    v1::CreateTerminalRequest::new(session.to_owned(), "sh").args(args)
}

fn exit(code: u32) -> v1::TerminalExitStatus {
    v1::TerminalExitStatus::new().exit_code(code)
}

async fn within<T>(work: impl Future<Output = T>) -> T {
    let result = tokio::time::timeout(Duration::from_secs(30), work).await;
    result.expect("took too long")
}

/// Returns whether a process exists and is no zombie.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

async fn gone(pids: &[String]) {
    within(async {
        while pids.iter().any(|pid| is_alive(pid)) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// A command that ignores SIGTERM, with a child in a session of its own; tells both ids and goes on.
const STUBBORN: &str = "trap '' TERM; setsid sleep 1000 & echo $!; echo $$; echo started; \
                        while :; do sleep 1000; done";

async fn pids(desk: &Desk, id: &v1::TerminalId) -> Vec<String> {
    let text = desk.written(id, "started").await;
    let pids: Vec<String> = text.lines().take(2).map(str::to_owned).collect();
    assert!(pids.iter().all(|pid| is_alive(pid)), "{text}");
    pids
}

#[tokio::test]
async fn v1_term_02_the_five_methods_work() {
    let desk = Desk::new();
    let id = desk.sh("echo out; echo err >&2; echo more").await;
    assert_eq!(desk.wait(&id).await.unwrap(), exit(0));
    let output = desk.output(&id).await.unwrap();
    assert_eq!(output.output, "out\nerr\nmore\n");
    assert_eq!(
        (output.truncated, output.exit_status),
        (false, Some(exit(0)))
    );
    desk.kill(&id).await.unwrap();
    desk.kill(&id).await.unwrap();
    assert_eq!(
        desk.wait(&id).await.unwrap(),
        exit(0),
        "the first exit counts"
    );
    desk.release(&id).await.unwrap();
}

#[tokio::test]
async fn v1_term_03_create_answers_while_the_command_runs() {
    let desk = Desk::new();
    let id = desk.sh("sleep 1000").await;
    assert_eq!(desk.output(&id).await.unwrap().exit_status, None);
    desk.release(&id).await.unwrap();
}

#[tokio::test]
async fn v1_term_04_cwd_and_environment_are_the_commands_own() {
    let desk = Desk::new();
    desk.tree.file("root/sub/file", "");
    desk.tree.link("root/link", desk.tree.at("root/sub"));
    desk.tree.link("root/trap", desk.tree.at("outside"));
    let script = "pwd -P; echo $ONE; cat; tty || true";
    let run = async |cwd: Option<PathBuf>| {
        let env = vec![v1::EnvVariable::new("ONE", "a b")];
        let id = desk.create(sh("s", script).env(env).cwd(cwd)).await?;
        desk.wait(&id).await?;
        let output = desk.output(&id).await?.output;
        desk.release(&id).await?;
        Ok::<_, RpcError>(output)
    };
    let (root, sub) = (desk.tree.at("root"), desk.tree.at("root/sub"));
    for (cwd, real) in [
        (None, &root),
        (Some(root.clone()), &root),
        (Some(sub.clone()), &sub),
        (Some(desk.tree.at("root/link")), &sub),
    ] {
        let expected = format!("{}\na b\nnot a tty\n", real.display());
        assert_eq!(run(cwd).await.unwrap(), expected);
    }
    for (cwd, code) in [
        ("sub".into(), RpcError::INVALID_PARAMS),
        ("/".into(), RpcError::INVALID_PARAMS),
        (desk.tree.at("outside"), RpcError::INVALID_PARAMS),
        (desk.tree.at("root/../outside"), RpcError::INVALID_PARAMS),
        (desk.tree.at("root/trap"), RpcError::INVALID_PARAMS),
        (desk.tree.at("root/sub/file"), RpcError::INVALID_PARAMS),
        (desk.tree.at("root/missing"), -32002),
    ] {
        let error = run(Some(cwd.clone())).await.unwrap_err();
        assert_eq!(error.code, code, "{}", cwd.display());
    }
}

#[tokio::test]
async fn what_no_process_can_be_started_with_is_refused_in_words() {
    let desk = Desk::new();
    let variable = |name: &str, value: &str| vec![v1::EnvVariable::new(name, value)];
    let refused = async |request: v1::CreateTerminalRequest| {
        let error = desk.create(request).await.unwrap_err();
        (error.code, error.message)
    };
    let new = |command: &str| v1::CreateTerminalRequest::new("s", command);
    for request in [
        new(""),
        new("tr\0ue"),
        new("true").args(vec!["a\0b".to_owned()]),
        new("true").env(variable("A\0", "x")),
        new("true").env(variable("A", "x\0")),
        new("true").env(variable("", "x")),
        new("true").env(variable("A=B", "x")),
    ] {
        assert_eq!(refused(request).await.0, RpcError::INVALID_PARAMS);
    }
    let (code, message) = refused(new("no-such-command-here")).await;
    assert_eq!(code, RpcError::INTERNAL_ERROR);
    assert!(message.contains("in PATH"), "{message}");
    assert!(!message.contains("no-such-command"), "{message}");
    // None of them has taken a place for good.
    for _ in 0..TERMINALS_PER_SESSION_MAX {
        assert!(
            refused(new("no-such-command-here"))
                .await
                .1
                .contains("PATH")
        );
    }
}

#[tokio::test]
async fn v1_term_05_the_newest_output_is_kept_up_to_the_limit() {
    let desk = Desk::new();
    let script = "i=0; while [ $i -lt 500 ]; do i=$((i+1)); printf '%04d\\n' $i; done";
    for (limit, kept) in [(Some(1000), 1000), (Some(0), 0), (None, 2500)] {
        let request = sh("s", script).output_byte_limit(limit);
        let id = desk.create(request).await.unwrap();
        desk.wait(&id).await.unwrap();
        let output = desk.output(&id).await.unwrap();
        assert_eq!((output.output.len(), output.truncated), (kept, kept < 2500));
        assert!(kept == 0 || output.output.ends_with("0499\n0500\n"));
    }
    let request = sh("s", "head -c 20000000 /dev/zero").output_byte_limit(u64::MAX);
    let id = desk.create(request).await.unwrap();
    desk.wait(&id).await.unwrap();
    let output = desk.output(&id).await.unwrap();
    assert_eq!(
        (output.output.len(), output.truncated),
        (OUTPUT_BYTES_MAX, true)
    );
}

#[tokio::test]
async fn v1_term_06_a_limit_inside_a_character_keeps_whole_ones() {
    let desk = Desk::new();
    let request = sh("s", "printf 'a\u{1f980}\u{1f980}'; printf '\\377'").output_byte_limit(9);
    let id = desk.create(request).await.unwrap();
    desk.wait(&id).await.unwrap();
    let output = desk.output(&id).await.unwrap();
    assert_eq!(output.output, "\u{1f980}\u{fffd}");
    assert!(output.truncated);
}

#[tokio::test]
async fn v1_term_07_the_exit_status_comes_with_all_of_the_output() {
    let desk = Desk::new();
    // What the command leaves behind holds its output open.
    let script = "sleep 1000 & head -c 300000 /dev/zero | tr '\\0' x; echo; echo end";
    for _ in 0..10 {
        let id = desk.sh(script).await;
        let output = within(async {
            loop {
                let output = desk.output(&id).await.unwrap();
                if output.exit_status.is_some() {
                    return output;
                }
                tokio::task::yield_now().await;
            }
        });
        let output = output.await;
        assert_eq!(output.output.len(), 300_005);
        assert!(output.output.ends_with("x\nend\n"));
        desk.release(&id).await.unwrap();
    }
    let id = desk.sh("true").await;
    desk.wait(&id).await.unwrap();
    let answer = serde_json::to_value(desk.output(&id).await.unwrap()).unwrap();
    let expected = json!({"output": "", "truncated": false, "exitStatus": {"exitCode": 0}});
    assert_eq!(answer, expected);
}

#[tokio::test]
async fn v1_term_08_wait_tells_the_code_or_the_signal() {
    let desk = Desk::new();
    let id = desk.sh("exit 3").await;
    assert_eq!(desk.wait(&id).await.unwrap(), exit(3));
    for (signal, name) in [
        ("KILL", "SIGKILL"),
        ("SEGV", "SIGSEGV"),
        ("TERM", "SIGTERM"),
    ] {
        let id = desk.sh(&format!("kill -{signal} $$")).await;
        let status = desk.wait(&id).await.unwrap();
        assert_eq!(
            (status.exit_code, status.signal.as_deref()),
            (None, Some(name))
        );
    }
}

// Also: V1-TERM-10.
#[tokio::test]
async fn v1_term_09_waiting_blocks_nobody_and_everyone_is_told() {
    let desk = Desk::new();
    let id = desk.sh("echo ready; exec sleep 1000").await;
    desk.written(&id, "ready").await;
    let waits: Vec<_> = (0..20)
        .map(|_| {
            let (terminals, id) = (desk.terminals.clone(), id.clone());
            let request = v1::WaitForTerminalExitRequest::new("s", id);
            tokio::spawn(async move { terminals.wait_for_exit(request).await })
        })
        .collect();
    tokio::task::yield_now().await;
    let other = desk.sh("echo meanwhile").await;
    desk.wait(&other).await.unwrap();
    assert_eq!(desk.output(&id).await.unwrap().output, "ready\n");
    desk.kill(&id).await.unwrap();
    for wait in waits {
        let status = within(wait).await.unwrap().unwrap().exit_status;
        assert_eq!(status.signal.as_deref(), Some("SIGTERM"));
    }
    let output = desk.output(&id).await.unwrap();
    assert_eq!(output.output, "ready\n");
    assert_eq!(
        output.exit_status.unwrap().signal.as_deref(),
        Some("SIGTERM")
    );
}

#[tokio::test]
async fn v1_term_10_kill_ends_the_whole_tree_however_stubborn() {
    let desk = Desk::new();
    let id = desk.sh(STUBBORN).await;
    let pids = pids(&desk, &id).await;
    desk.kill(&id).await.unwrap();
    assert!(pids.iter().all(|pid| !is_alive(pid)));
    let status = desk.wait(&id).await.unwrap();
    assert_eq!(status.signal.as_deref(), Some("SIGKILL"));
    assert!(
        desk.output(&id)
            .await
            .unwrap()
            .output
            .ends_with("started\n")
    );
}

#[tokio::test]
async fn v1_term_10_a_command_that_floods_its_output_is_killed_all_the_same() {
    let desk = Desk::new();
    let id = desk
        .sh("trap 'echo last words; exit 5' TERM; while :; do yes | head -c 100000; done")
        .await;
    desk.written(&id, "y\n").await;
    desk.kill(&id).await.unwrap();
    assert!(desk.wait(&id).await.is_ok());
    let id = desk.sh("trap '' TERM; while :; do yes; done").await;
    desk.written(&id, "y\n").await;
    desk.kill(&id).await.unwrap();
    assert_eq!(
        desk.wait(&id).await.unwrap().signal.as_deref(),
        Some("SIGKILL")
    );
}

#[tokio::test]
async fn v1_term_12_release_ends_the_command_and_forgets_the_terminal() {
    let desk = Desk::new();
    let id = desk.sh(STUBBORN).await;
    let pids = pids(&desk, &id).await;
    let waiting = {
        let request = v1::WaitForTerminalExitRequest::new("s", id.clone());
        let terminals = desk.terminals.clone();
        tokio::spawn(async move { terminals.wait_for_exit(request).await })
    };
    tokio::task::yield_now().await;
    desk.release(&id).await.unwrap();
    assert!(pids.iter().all(|pid| !is_alive(pid)));
    within(waiting).await.unwrap().unwrap();
    for error in [
        desk.output(&id).await.map(drop).unwrap_err(),
        desk.wait(&id).await.map(drop).unwrap_err(),
        desk.kill(&id).await.unwrap_err(),
        desk.release(&id).await.unwrap_err(),
    ] {
        assert_eq!(
            (error.code, error.message.as_str()),
            (-32002, "Resource not found")
        );
    }
}

#[tokio::test]
async fn a_terminal_belongs_to_the_session_that_made_it() {
    let desk = Desk::new();
    let id = desk.create(sh("other", "sleep 1000")).await.unwrap();
    for error in [
        desk.output(&id).await.map(drop).unwrap_err(),
        desk.wait(&id).await.map(drop).unwrap_err(),
        desk.kill(&id).await.unwrap_err(),
        desk.release(&id).await.unwrap_err(),
    ] {
        assert_eq!(error.code, -32002);
    }
    // Ids never come again, in this session or another one, or on another connection.
    let mut ids = HashSet::from([id]);
    let others = Desk::new();
    for _ in 0..5 {
        for (desk, session) in [(&desk, "s"), (&desk, "other"), (&others, "s")] {
            let id = desk.create(sh(session, "true")).await.unwrap();
            assert!(ids.insert(id));
        }
    }
    within(desk.terminals.end_all()).await;
}

#[tokio::test]
async fn a_session_has_so_many_terminals_and_no_more() {
    let desk = Desk::new();
    let mut ids = Vec::new();
    for _ in 0..TERMINALS_PER_SESSION_MAX {
        ids.push(desk.sh("true").await);
    }
    let error = desk.create(sh("s", "true")).await.unwrap_err();
    assert!(error.message.contains("release one first"), "{error}");
    let other = desk.create(sh("other", "true")).await;
    assert!(other.is_ok(), "another session has its own");
    desk.release(&ids[0]).await.unwrap();
    desk.sh("true").await;
    assert!(desk.create(sh("s", "true")).await.is_err());
    within(desk.terminals.end_session(&"s".into())).await;
    desk.sh("true").await;
}

#[tokio::test]
async fn v1_term_14_output_is_handed_on_as_it_comes() {
    let shown = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&shown);
    let desk = Desk::with(Terminals::new().on_output(move |_, text| {
        sink.lock().unwrap().push_str(text);
    }));
    let request = sh(
        "s",
        "printf 'one \\342'; printf '\\202\\254 two'; printf '\\360'",
    );
    let id = desk.create(request.output_byte_limit(3)).await.unwrap();
    desk.wait(&id).await.unwrap();
    desk.release(&id).await.unwrap();
    assert_eq!(*shown.lock().unwrap(), "one \u{20ac} two\u{fffd}");
}

#[tokio::test]
async fn v1_term_15_the_end_of_a_session_ends_its_commands_and_no_others() {
    let desk = Desk::new();
    let (first, second) = (desk.sh(STUBBORN).await, desk.sh(STUBBORN).await);
    let mut ended = pids(&desk, &first).await;
    ended.extend(pids(&desk, &second).await);
    let other = desk.create(sh("other", "echo $$; exec sleep 1000")).await;
    let other = other.unwrap();
    within(desk.terminals.end_session(&"s".into())).await;
    assert!(ended.iter().all(|pid| !is_alive(pid)));
    assert_eq!(desk.output(&first).await.unwrap_err().code, -32002);
    let request = v1::TerminalOutputRequest::new("other", other);
    let output = within(desk.terminals.output(request)).await.unwrap();
    assert_eq!(output.exit_status, None);
    within(desk.terminals.end_all()).await;
}

#[tokio::test]
async fn v1_term_15_the_end_of_the_connection_ends_every_command() {
    let desk = Desk::new();
    let id = desk.sh(STUBBORN).await;
    let started = pids(&desk, &id).await;
    within(desk.terminals.end_all()).await;
    assert!(started.iter().all(|pid| !is_alive(pid)));
    // Whoever forgets to say so drops the terminals.
    let desk = Desk::new();
    let id = desk.sh(STUBBORN).await;
    let started = pids(&desk, &id).await;
    drop(desk);
    gone(&started).await;
}

#[tokio::test]
async fn v1_term_15_a_command_that_starts_while_its_session_ends_is_ended() {
    for _ in 0..20 {
        let desk = Desk::new();
        let marker = desk.tree.at("root/started");
        let script = format!("echo $$ > '{}'; exec sleep 1000", marker.display());
        let creating = desk.create(sh("s", &script));
        let ending = async {
            tokio::task::yield_now().await;
            desk.terminals.end_session(&"s".into()).await;
        };
        let (created, ()) = tokio::join!(creating, ending);
        match created {
            Ok(id) => assert_eq!(desk.output(&id).await.unwrap_err().code, -32002),
            Err(error) => assert_eq!(error.code, RpcError::INVALID_REQUEST),
        }
        if let Ok(pid) = std::fs::read_to_string(marker) {
            gone(&[pid]).await;
        }
    }
}

#[tokio::test]
async fn a_create_that_is_given_up_leaves_nothing_running() {
    let desk = Desk::new();
    let marker = desk.tree.at("root/started");
    let script = format!("echo $$ > '{}'; exec sleep 1000", marker.display());
    let mut creating = Box::pin(
        desk.terminals
            .create(&desk.roots, sh("s", &script), unseen()),
    );
    std::future::poll_fn(|cx| {
        assert!(creating.as_mut().poll(cx).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    drop(creating);
    // It is given its place back when everything it had started is gone.
    let slots = Arc::clone(&desk.terminals.lock().get(&"s".into()).unwrap().slots);
    within(slots.acquire_many(TERMINALS_PER_SESSION_MAX as u32))
        .await
        .unwrap()
        .forget();
    if let Ok(pid) = std::fs::read_to_string(marker) {
        assert!(!is_alive(&pid));
    }
}

/// Nobody who looks.
fn unseen() -> Show {
    Arc::new(|_: &v1::TerminalId, _: Scene<'_>| {})
}
