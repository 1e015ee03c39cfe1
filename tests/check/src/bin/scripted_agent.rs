//! The scripted agent that clients under test start: `scripted_agent --scene NAME --version N --out FILE`, or
//! `scripted_agent --interactive --out FILE`.

use std::path::PathBuf;
use std::time::Duration;

use ply_check::report::Run;
use ply_check::{Report, Side};
use ply_client::Version;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut scene, mut out, mut version, mut is_interactive) = (None, None, Version::V1, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--scene" => scene = words.next(),
            "--out" => out = words.next().map(PathBuf::from),
            "--version" if words.next().as_deref() == Some("2") => version = Version::V2,
            "--interactive" => is_interactive = true,
            _ => {}
        }
    }
    let out = out.ok_or("--out is missing")?;
    let (reader, writer) = (tokio::io::stdin(), tokio::io::stdout());
    if is_interactive {
        let tell = |version, findings| {
            let run = Run::new(version, findings, Duration::ZERO);
            let report = Report::new(Side::Client, "a client", None, vec![run]);
            // As a whole: it is read while the client goes on.
            let part = out.with_extension("part");
            std::fs::write(&part, report.to_json().to_string())?;
            std::fs::rename(&part, &out)
        };
        ply_check::client::serve_interactive(reader, writer, tell).await?;
    } else {
        let scene = scene.ok_or("--scene is missing")?;
        ply_check::client::serve(&scene, version, &out, reader, writer).await?;
    }
    // A read of standard input that nobody waits for would keep the process alive.
    std::process::exit(0);
}
