//! The shim over byte streams, with servers that end.

use std::cell::RefCell;
use std::io;

use ply_agent::Server;
use ply_hub::shim;
use ply_rpc::transport::memory;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::task::JoinHandle;

use crate::editor::{Busy, Editor, joined};

/// Runs an editor against a server. A connection ends with every so many lines that the editor gets.
async fn converse(version: u64, ends_every: Option<usize>) -> (Vec<serde_json::Value>, usize) {
    let ((editor_in, editor_out), (reader, mut writer)) = memory::pair(64 * 1024);
    let server = Server::new(Busy);
    let connection: RefCell<Option<JoinHandle<()>>> = RefCell::new(None);
    let dials = RefCell::new(0);
    let connect = async || {
        *dials.borrow_mut() += 1;
        if *dials.borrow() % 3 == 2 {
            // It is not there at once.
            return Err(io::Error::from(io::ErrorKind::ConnectionRefused));
        }
        let (here, (input, output)) = memory::pair(64 * 1024);
        let server = server.clone();
        let served = tokio::spawn(async move { server.over(input, output).await });
        *connection.borrow_mut() = Some(served);
        Ok(here)
    };
    let mut editor = Editor::new(version);
    let talks = async {
        let mut lines = BufReader::new(reader).lines();
        let first = format!("{}\n", editor.begin());
        writer.write_all(first.as_bytes()).await.unwrap();
        while !editor.is_done {
            let line = lines.next_line().await.unwrap().expect("a line");
            for said in editor.take(line.as_bytes()) {
                let said = format!("{said}\n");
                writer.write_all(said.as_bytes()).await.unwrap();
            }
            if ends_every.is_some_and(|every| editor.seen.len().is_multiple_of(every))
                && let Some(served) = connection.borrow_mut().take()
            {
                served.abort();
            }
        }
        writer.shutdown().await.unwrap();
    };
    let (ran, ()) = tokio::join!(shim::run(editor_in, editor_out, connect), talks);
    ran.unwrap();
    let dials = *dials.borrow();
    (joined(&editor.seen), dials)
}

#[tokio::test(start_paused = true)]
async fn an_editor_sees_the_same_however_often_the_hub_goes_away() {
    for version in [1, 2] {
        let (whole, dials) = converse(version, None).await;
        assert_eq!(dials, 1);
        for every in [2, 3, 5] {
            let (seen, dials) = converse(version, Some(every)).await;
            assert!(dials > 3, "{dials} connections");
            for (at, (expected, seen)) in whole.iter().zip(&seen).enumerate() {
                assert_eq!(
                    seen, expected,
                    "line {at}, version {version}, every {every} lines"
                );
            }
            assert_eq!(seen.len(), whole.len());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hub_that_stays_away_is_told_after_a_minute() {
    let ((input, output), _editor) = memory::pair(1024);
    let began = tokio::time::Instant::now();
    let refuse = async || -> io::Result<memory::End> { Err(io::ErrorKind::NotFound.into()) };
    let error = shim::run(input, output, refuse).await.unwrap_err();
    assert!(matches!(error, shim::Error::Unreachable(_)), "{error}");
    assert!(began.elapsed() <= shim::DIAL_TIME_MAX);
    assert!(began.elapsed() > shim::DIAL_TIME_MAX / 2);
}

#[tokio::test(start_paused = true)]
async fn an_editor_that_goes_away_ends_the_shim_also_while_there_is_no_hub() {
    let ((input, output), editor) = memory::pair(1024);
    drop(editor);
    let refuse = async || -> io::Result<memory::End> { Err(io::ErrorKind::NotFound.into()) };
    shim::run(input, output, refuse).await.unwrap();
}
