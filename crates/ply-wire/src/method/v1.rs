//! The methods of protocol version 1.

pub use super::lenient::{
    LenientPermissionRequest, LenientPromptResponse, LenientSessionUpdate, LenientStopReason,
    lenient_permission_request, lenient_prompt_response, lenient_session_update,
};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::decode::{DecodeError, decode_params};

super::table::method_table! {
    schema v1;
    agent receives {
        requests {
            Initialize(InitializeRequest -> InitializeResponse) = "initialize";
            Authenticate(AuthenticateRequest -> AuthenticateResponse) = "authenticate" if "authMethods";
            Logout(LogoutRequest -> LogoutResponse) = "logout" if "agentCapabilities.auth.logout";
            NewSession(NewSessionRequest -> NewSessionResponse) = "session/new";
            LoadSession(LoadSessionRequest -> LoadSessionResponse) = "session/load" if "agentCapabilities.loadSession";
            ResumeSession(ResumeSessionRequest -> ResumeSessionResponse) = "session/resume" if "agentCapabilities.sessionCapabilities.resume";
            ListSessions(ListSessionsRequest -> ListSessionsResponse) = "session/list" if "agentCapabilities.sessionCapabilities.list";
            CloseSession(CloseSessionRequest -> CloseSessionResponse) = "session/close" if "agentCapabilities.sessionCapabilities.close";
            DeleteSession(DeleteSessionRequest -> DeleteSessionResponse) = "session/delete" if "agentCapabilities.sessionCapabilities.delete";
            #[cfg(feature = "unstable_session_fork")]
            ForkSession(ForkSessionRequest -> ForkSessionResponse) = "session/fork" if "agentCapabilities.sessionCapabilities.fork";
            #[cfg(feature = "unstable_session_status")]
            SessionStatus(SessionStatusRequest -> SessionStatusResponse) = "session/status" if "agentCapabilities.sessionCapabilities.status";
            #[cfg(feature = "unstable_session_set_title")]
            SetSessionTitle(SetSessionTitleRequest -> SetSessionTitleResponse) = "session/set_title" if "agentCapabilities.sessionCapabilities.title";
            #[cfg(feature = "unstable_session_archive")]
            ArchiveSession(ArchiveSessionRequest -> ArchiveSessionResponse) = "session/archive" if "agentCapabilities.sessionCapabilities.archive";
            #[cfg(feature = "unstable_session_archive")]
            UnarchiveSession(UnarchiveSessionRequest -> UnarchiveSessionResponse) = "session/unarchive" if "agentCapabilities.sessionCapabilities.archive";
            Prompt(PromptRequest -> PromptResponse) = "session/prompt";
            SetSessionMode(SetSessionModeRequest -> SetSessionModeResponse) = "session/set_mode";
            SetSessionConfigOption(SetSessionConfigOptionRequest -> SetSessionConfigOptionResponse) = "session/set_config_option";
        }
        notifications {
            Cancel(CancelNotification) = "session/cancel";
        }
    }
    client receives {
        requests {
            RequestPermission(RequestPermissionRequest -> RequestPermissionResponse) = "session/request_permission";
            ReadTextFile(ReadTextFileRequest -> ReadTextFileResponse) = "fs/read_text_file" if "clientCapabilities.fs.readTextFile";
            WriteTextFile(WriteTextFileRequest -> WriteTextFileResponse) = "fs/write_text_file" if "clientCapabilities.fs.writeTextFile";
            CreateTerminal(CreateTerminalRequest -> CreateTerminalResponse) = "terminal/create" if "clientCapabilities.terminal";
            TerminalOutput(TerminalOutputRequest -> TerminalOutputResponse) = "terminal/output" if "clientCapabilities.terminal";
            WaitForTerminalExit(WaitForTerminalExitRequest -> WaitForTerminalExitResponse) = "terminal/wait_for_exit" if "clientCapabilities.terminal";
            KillTerminal(KillTerminalRequest -> KillTerminalResponse) = "terminal/kill" if "clientCapabilities.terminal";
            ReleaseTerminal(ReleaseTerminalRequest -> ReleaseTerminalResponse) = "terminal/release" if "clientCapabilities.terminal";
            CreateElicitation(CreateElicitationRequest -> CreateElicitationResponse) = "elicitation/create" if "clientCapabilities.elicitation" checked by one_scope;
        }
        notifications {
            SessionUpdate(SessionNotification) = "session/update";
            CompleteElicitation(CompleteElicitationNotification) = "elicitation/complete" if "clientCapabilities.elicitation.url";
        }
    }
    either receives {
        notifications {
            CancelRequest(CancelRequestNotification) = "$/cancel_request";
        }
    }
}

/// Refuses an elicitation that names both a session and a request (V1-ELIC-04).
///
/// The official type takes the session and drops the request, so the question could be shown in
/// the wrong place. One that names neither fails to decode anyway.
fn one_scope(params: Option<&RawValue>) -> Result<(), DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Scopes {
        #[serde(default)]
        session_id: Option<IgnoredAny>,
        #[serde(default)]
        request_id: Option<IgnoredAny>,
    }

    let scopes: Scopes = decode_params(params)?;
    if scopes.session_id.is_some() && scopes.request_id.is_some() {
        return Err(DecodeError::InvalidParams(
            "expected either a session or a request".into(),
        ));
    }
    Ok(())
}
