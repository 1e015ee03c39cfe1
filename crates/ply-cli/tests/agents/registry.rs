//! A registry on the loopback interface.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

type Files = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// Answers each request with a file, or says that there is none.
pub(crate) struct Registry {
    address: SocketAddr,
    files: Files,
}

impl Registry {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let files = Files::default();
        let served = Arc::clone(&files);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &served);
            }
        });
        Self { address, files }
    }

    /// Returns the address of a file.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl Into<Vec<u8>>) {
        let mut files = self.files.lock().unwrap();
        files.insert(format!("/{name}"), bytes.into());
    }

    /// Puts the index, with these agents in it.
    pub(crate) fn index(&self, agents: Value) {
        let index = serde_json::json!({"version": "1.0.0", "agents": agents, "extensions": []});
        self.put("registry.json", index.to_string());
    }
}

fn answer(mut stream: TcpStream, files: &Files) {
    let mut lines = BufReader::new(&stream).lines();
    let first = lines.next().unwrap().unwrap();
    // A request ends with an empty line.
    while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
    let path = first.split(' ').nth(1).unwrap();
    let body = files.lock().unwrap().get(path).cloned();
    let status = if body.is_some() {
        "200 OK"
    } else {
        "404 Not Found"
    };
    let body = body.unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // A client that has seen enough may be gone.
    drop(
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(&body)),
    );
}
