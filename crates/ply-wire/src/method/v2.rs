//! The methods of protocol version 2.
//!
//! `tool_call/cancel` and `terminal/cancel` also need the call or terminal itself to advertise
//! `capabilities.cancel`; the table names only what `initialize` says.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::decode::{DecodeError, decode_result};
use crate::v2;

super::table::method_table! {
    schema v2;
    agent receives {
        requests {
            Initialize(InitializeRequest -> InitializeResponse) = "initialize";
            Login(LoginAuthRequest -> LoginAuthResponse) = "auth/login" if "authMethods";
            Logout(LogoutAuthRequest -> LogoutAuthResponse) = "auth/logout" if "authMethods";
            NewSession(NewSessionRequest -> NewSessionResponse) = "session/new" if "capabilities.session";
            ResumeSession(ResumeSessionRequest -> ResumeSessionResponse) = "session/resume" if "capabilities.session";
            ListSessions(ListSessionsRequest -> ListSessionsResponse) = "session/list" if "capabilities.session";
            CloseSession(CloseSessionRequest -> CloseSessionResponse) = "session/close" if "capabilities.session";
            DeleteSession(DeleteSessionRequest -> DeleteSessionResponse) = "session/delete" if "capabilities.session.delete";
            #[cfg(feature = "unstable_session_fork")]
            ForkSession(ForkSessionRequest -> ForkSessionResponse) = "session/fork" if "capabilities.session.fork";
            #[cfg(feature = "unstable_session_status")]
            SessionStatus(SessionStatusRequest -> SessionStatusResponse) = "session/status" if "capabilities.session.status";
            #[cfg(feature = "unstable_session_set_title")]
            SetSessionTitle(SetSessionTitleRequest -> SetSessionTitleResponse) = "session/set_title" if "capabilities.session.title";
            #[cfg(feature = "unstable_session_archive")]
            ArchiveSession(ArchiveSessionRequest -> ArchiveSessionResponse) = "session/archive" if "capabilities.session.archive";
            #[cfg(feature = "unstable_session_archive")]
            UnarchiveSession(UnarchiveSessionRequest -> UnarchiveSessionResponse) = "session/unarchive" if "capabilities.session.archive";
            Prompt(PromptRequest -> PromptResponse) = "session/prompt" if "capabilities.session";
            SetSessionConfigOption(SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse) = "session/set_config_option" if "capabilities.session";
            CancelToolCall(CancelToolCallRequest -> CancelToolCallResponse) = "tool_call/cancel" if "capabilities.session";
            CancelTerminal(CancelTerminalRequest -> CancelTerminalResponse) = "terminal/cancel" if "capabilities.session";
        }
        notifications {
            Cancel(CancelSessionNotification) = "session/cancel" if "capabilities.session";
        }
    }
    client receives {
        requests {
            RequestPermission(RequestPermissionRequest -> RequestPermissionResponse) = "session/request_permission";
            CreateElicitation(CreateElicitationRequest -> CreateElicitationResponse) = "elicitation/create" if "capabilities.elicitation";
        }
        notifications {
            SessionUpdate(UpdateSessionNotification) = "session/update";
            CompleteElicitation(CompleteElicitationNotification) = "elicitation/complete" if "capabilities.elicitation.url";
        }
    }
    either receives {
        notifications {
            CancelRequest(CancelRequestNotification) = "$/cancel_request";
        }
    }
}

/// Reads a `session/prompt` result that may lack the `messageId`.
///
/// Earlier drafts of version 2 answered with an empty object, and agents built on them still do.
/// `None` stands for such an answer; the client then learns the id from the updates.
///
/// # Errors
///
/// [`DecodeError::InvalidResult`] if the answer is no object or the id no string.
pub fn lenient_prompt_response(
    result: &RawValue,
) -> Result<Option<v2::PromptResponse>, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Wire {
        #[serde(default)]
        message_id: Option<Box<RawValue>>,
    }

    match decode_result(result) {
        Ok(response) => Ok(Some(response)),
        Err(error) => match decode_result(result) {
            Ok(Some(Wire { message_id: None }) | None) => Ok(None),
            _ => Err(error),
        },
    }
}
