//! The server behind streamable HTTP.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::Arguments;
use super::oauth::Authority;
use super::tools::Tools;

type Service = StreamableHttpService<Tools, LocalSessionManager>;
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Listens until the process is ended.
pub(crate) async fn serve(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await?;
    let base = format!("http://{}", listener.local_addr()?);
    let address = format!("{base}/mcp\n");
    let authority = arguments
        .oauth
        .then(|| Authority::new(arguments.secret.clone()));
    let authority = Arc::new((base, authority));
    let tools = Tools::default();
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = Service::new(move || Ok(tools.clone()), sessions, config);
    let file = arguments.http.clone().unwrap_or_default();
    let arguments = Arc::new(arguments);
    // Whoever opens the pipe learns the address once the server listens.
    tokio::task::spawn_blocking(move || std::fs::write(file, address)).await??;
    loop {
        let (stream, _) = listener.accept().await?;
        let (service, arguments) = (service.clone(), Arc::clone(&arguments));
        let authority = Arc::clone(&authority);
        let answer = service_fn(move |request| {
            let (service, arguments) = (service.clone(), Arc::clone(&arguments));
            let authority = Arc::clone(&authority);
            async move {
                let request = match &*authority {
                    (base, Some(authority)) => authority.answer(base, request).await,
                    (_, None) => Ok(request),
                };
                Ok::<_, Infallible>(match request {
                    Ok(request) => answer(&service, &arguments, request).await,
                    Err(answer) => answer,
                })
            }
        });
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            drop(
                connection
                    .serve_connection(TokioIo::new(stream), answer)
                    .await,
            );
        });
    }
}

async fn answer(service: &Service, arguments: &Arguments, request: Request<Incoming>) -> Answer {
    if arguments.page {
        return plain(StatusCode::OK, "<html>Hello</html>");
    }
    let wanted = arguments
        .token
        .as_ref()
        .map(|token| format!("Bearer {token}"));
    let given = request.headers().get(AUTHORIZATION);
    if wanted.is_some_and(|wanted| given.is_none_or(|given| given.as_bytes() != wanted.as_bytes()))
    {
        return plain(StatusCode::UNAUTHORIZED, "who are you?");
    }
    service.handle(request).await
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    let html = hyper::header::HeaderValue::from_static("text/html");
    answer.headers_mut().insert(CONTENT_TYPE, html);
    answer
}
