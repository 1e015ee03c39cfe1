//! `ply run --detach`: the work is left to the hub.

use std::process::ExitCode;

use tokio::time::Instant;

use super::ending::{Conclusion, Ended};
use super::failure::Failure;
use super::open;
use super::report::Report;
use super::request::Request;
use super::stage::Stage;
use super::{Haste, complete, end_agent};
use crate::program::error::Error;
use crate::program::hub::through;
use crate::program::output;

/// Opens the session, leaves the prompt there and prints its id.
pub(super) async fn run(
    request: Result<Request, Failure>,
    mut stage: Stage,
    mut report: Report,
    began: Instant,
) -> Result<ExitCode, Error> {
    let left = async {
        let mut request = request?;
        complete(&mut request, &mut stage).await?;
        let opened = open::open(&request, &mut stage, &mut report, false).await?;
        let id = opened.session.id().0.to_string();
        let posted = through::post(&id, request.words().to_owned()).await;
        // The session stays open in the hub.
        end_agent(&mut stage, &opened.agent, Haste::Polite).await;
        posted.map_err(Failure::from)?;
        Ok::<_, Ended>(id)
    };
    match left.await {
        Ok(id) => {
            output::line(&id);
            Ok(ExitCode::SUCCESS)
        }
        Err(ended) => {
            let conclusion = Conclusion::new(ended, &report.permissions, began.elapsed());
            stage.progress.clear();
            if let Some(failure) = &conclusion.failure {
                failure.tell();
            }
            Ok(ExitCode::from(conclusion.exit))
        }
    }
}
