//! An MCP server that does what tests need.
//!
//! Without arguments it speaks over standard input and output. `--http FILE` makes it listen on a port of the loopback and write
//! its address to the file; `--port N` chooses the port, `--oauth` wants a login, `--secret S` lets only the client `known` with that secret in, `--token T` wants `Authorization: Bearer T` and `--page` makes it answer
//! like a page that is no MCP server. `--hostile` makes it list what a server should not. `--rich N` makes it one with instructions,
//! resources and N tools besides.

mod hostile;
mod http;
mod oauth;
mod rich;
mod tools;

use std::error::Error;
use std::process::ExitCode;

use self::tools::Tools;

#[derive(Debug, Default)]
struct Arguments {
    http: Option<String>,
    port: u16,
    token: Option<String>,
    page: bool,
    oauth: bool,
    secret: Option<String>,
    hostile: bool,
    rich: Option<usize>,
}

fn arguments() -> Result<Arguments, Box<dyn Error>> {
    let mut arguments = Arguments::default();
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--http" => arguments.http = Some(value()?),
            "--port" => arguments.port = value()?.parse()?,
            "--token" => arguments.token = Some(value()?),
            "--secret" => arguments.secret = Some(value()?),
            "--oauth" => arguments.oauth = true,
            "--page" => arguments.page = true,
            "--hostile" => arguments.hostile = true,
            "--rich" => arguments.rich = Some(value()?.parse()?),
            _ => return Err(format!("what is {argument}?").into()),
        }
    }
    Ok(arguments)
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let arguments = arguments()?;
    if arguments.http.is_some() {
        return http::serve(arguments).await;
    }
    let transport = (tokio::io::stdin(), tokio::io::stdout());
    if let Some(tools) = arguments.rich {
        rmcp::serve_server(rich::Rich::new(tools), transport)
            .await?
            .waiting()
            .await?;
    } else if arguments.hostile {
        rmcp::serve_server(hostile::Hostile, transport)
            .await?
            .waiting()
            .await?;
    } else {
        rmcp::serve_server(Tools::default(), transport)
            .await?
            .waiting()
            .await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
#[expect(
    clippy::print_stderr,
    reason = "standard error is where a server says what is wrong"
)]
async fn main() -> ExitCode {
    match serve().await {
        // The thread that reads standard input cannot be interrupted.
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
