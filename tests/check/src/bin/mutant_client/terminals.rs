//! Terminals for the agent.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::sync::{mpsc, watch};

type Answer = Result<Value, (i64, &'static str)>;

/// Terminals that were made and not released.
pub(super) struct Terminals {
    out: mpsc::Sender<Vec<u8>>,
    fault: String,
    open: BTreeMap<String, Terminal>,
    made: u32,
    /// The end of a command that is waited for while nothing else is served, which only a client with a fault does.
    blocked_by: Option<watch::Receiver<Option<Value>>>,
}

struct Terminal {
    process: Option<u32>,
    output: Arc<Mutex<Vec<u8>>>,
    status: watch::Receiver<Option<Value>>,
    limit: usize,
    answers_at_end: Option<Value>,
}

impl Terminals {
    pub(super) fn new(out: mpsc::Sender<Vec<u8>>, fault: String) -> Self {
        Self {
            out,
            fault,
            open: BTreeMap::new(),
            made: 0,
            blocked_by: None,
        }
    }

    /// Ends everything that runs.
    pub(super) fn end(&mut self) {
        for terminal in std::mem::take(&mut self.open).into_values() {
            terminal.kill();
        }
    }

    /// Serves a request; none if it is answered later.
    pub(super) fn serve(
        &mut self,
        method: &str,
        id: &Value,
        params: &Value,
        cwd: &str,
    ) -> Option<Answer> {
        let blocked = self.blocked_by.as_ref();
        if blocked.is_some_and(|end| end.borrow().is_none()) {
            return None;
        }
        if self.fault == "refuses-terminals" {
            return Some(Err((-32601, "Method not found")));
        }
        if method == "terminal/create" {
            return self.create(id, params, cwd);
        }
        let name = params
            .get("terminalId")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let keeps = self.fault == "release-keeps";
        let forgets = self.fault == "kill-forgets";
        let Some(terminal) = self.open.get(&name) else {
            return Some(Err((-32002, "Not found")));
        };
        match method {
            "terminal/output" => Some(Ok(self.shown(terminal))),
            "terminal/wait_for_exit" => {
                self.wait(id, terminal);
                if self.fault == "waits-block" {
                    self.blocked_by = Some(terminal.status.clone());
                }
                None
            }
            "terminal/kill" if self.fault == "no-kill" => Some(Err((-32601, "Method not found"))),
            "terminal/kill" => {
                terminal.kill();
                if forgets {
                    self.open.remove(&name);
                }
                Some(Ok(json!({})))
            }
            "terminal/release" => {
                terminal.kill();
                if !keeps {
                    self.open.remove(&name);
                }
                Some(Ok(json!({})))
            }
            _ => Some(Err((-32601, "Method not found"))),
        }
    }

    fn create(&mut self, id: &Value, params: &Value, cwd: &str) -> Option<Answer> {
        let command = params
            .get("command")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let args = params
            .get("args")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let child = tokio::process::Command::new(command)
            .args(args.filter_map(Value::as_str))
            .current_dir(cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn();
        let Ok(mut child) = child else {
            return Some(Err((-32603, "The command cannot be started")));
        };
        let (tell, status) = watch::channel(None);
        let output = Arc::new(Mutex::new(Vec::new()));
        let process = child.id();
        let kept = Arc::clone(&output);
        self.made += 1;
        let name = format!("t-{}", self.made);
        let blocked = (self.fault == "terminal-blocks")
            .then(|| (self.out.clone(), answer(id, json!({"terminalId": name}))));
        tokio::spawn(async move {
            let mut buffer = vec![0; 4096];
            if let Some(mut stdout) = child.stdout.take() {
                while let Ok(read) = stdout.read(&mut buffer).await {
                    if read == 0 {
                        break;
                    }
                    let mut output = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    output.extend_from_slice(buffer.get(..read).unwrap_or_default());
                }
            }
            let code = child.wait().await.ok().and_then(|status| status.code());
            let told = match code {
                Some(code) => json!({"exitCode": code, "signal": null}),
                None => json!({"exitCode": null, "signal": "SIGKILL"}),
            };
            tell.send_replace(Some(told));
            if let Some((out, line)) = blocked {
                drop(out.send(line).await);
            }
        });
        let limit = params.get("outputByteLimit").and_then(Value::as_u64);
        let limit = limit
            .and_then(|limit| usize::try_from(limit).ok())
            .unwrap_or(usize::MAX);
        let terminal = Terminal {
            process,
            output,
            status,
            limit,
            answers_at_end: (self.fault == "status-while-running").then(|| json!({"exitCode": 0})),
        };
        self.open.insert(name.clone(), terminal);
        match self.fault.as_str() {
            "terminal-blocks" => None,
            _ => Some(Ok(json!({"terminalId": name}))),
        }
    }

    fn shown(&self, terminal: &Terminal) -> Value {
        let all = terminal
            .output
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let is_cut = all.len() > terminal.limit;
        let start = match self.fault.as_str() {
            "keeps-oldest" => 0,
            _ => all.len().saturating_sub(terminal.limit),
        };
        let mut kept = all.get(start..).unwrap_or_default();
        kept = kept
            .get(..kept.len().min(terminal.limit))
            .unwrap_or_default();
        // The next character begins where a byte is no continuation.
        let is_inside = |byte: &u8| *byte & 0xC0 == 0x80;
        let skipped = kept.iter().take_while(|byte| is_inside(byte)).count();
        if self.fault != "cuts-characters" {
            kept = kept.get(skipped..).unwrap_or_default();
        }
        let mut shown = json!({"output": String::from_utf8_lossy(kept), "truncated": is_cut});
        let status = terminal
            .status
            .borrow()
            .clone()
            .or_else(|| terminal.answers_at_end.clone());
        if let (Some(status), Some(shown)) = (status, shown.as_object_mut()) {
            shown.insert("exitStatus".to_owned(), status);
        }
        shown
    }

    fn wait(&self, id: &Value, terminal: &Terminal) {
        let (out, id) = (self.out.clone(), id.clone());
        let mut status = terminal.status.clone();
        let is_vague = self.fault == "exit-without-code";
        tokio::spawn(async move {
            let told = match status.wait_for(Option::is_some).await {
                Ok(_) if is_vague => json!({}),
                Ok(status) => status.clone().unwrap_or_default(),
                Err(_) => json!({}),
            };
            drop(out.send(answer(&id, told)).await);
        });
    }
}

impl Terminal {
    fn kill(&self) {
        if self.status.borrow().is_some() {
            return;
        }
        if let Some(process) = self.process {
            // The whole group; one that is gone is as good.
            let kill = std::process::Command::new("kill")
                .args(["-KILL", "--", &format!("-{process}")])
                .stderr(Stdio::null())
                .status();
            drop(kill);
        }
    }
}

fn answer(id: &Value, result: Value) -> Vec<u8> {
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
    format!("{answer}\n").into_bytes()
}
