//! What clients, the agent's code and the host do.

use std::sync::Arc;

use ply_session::{
    After, Answers, Attach, Close, How, Input, Keep, Outcome, Prompt, RequestId, Setup, Stop,
    ViewId, Viewer,
};
use ply_wire::negotiate::Version;
use ply_wire::project::Shows;
use ply_wire::v2;

use crate::client::Client;
use crate::world::{World, setup};

impl World {
    pub(crate) fn request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId(self.requests)
    }

    /// Attaches a client that reads everything at once; returns the number of the request.
    pub(crate) fn attach(&mut self, view: u64, version: Version) -> u64 {
        self.attach_as(view, version, How::Replay)
    }

    pub(crate) fn attach_as(&mut self, view: u64, version: Version, how: How) -> u64 {
        let answers = Answers {
            form: true,
            url: true,
        };
        let viewer = Viewer::new(version, Shows::ALL, answers);
        self.attach_viewer(view, viewer, how, setup())
    }

    pub(crate) fn attach_viewer(
        &mut self,
        view: u64,
        viewer: Viewer,
        how: How,
        setup: Setup,
    ) -> u64 {
        self.attach_after(view, viewer, how, setup, None)
    }

    /// Attaches a client that goes on where it was.
    pub(crate) fn come_back(&mut self, view: u64, viewer: Viewer, cursor: &str) -> u64 {
        let after = After {
            cursor: cursor.to_owned(),
            operations: Vec::new(),
        };
        self.attach_after(view, viewer, How::Resume, setup(), Some(after))
    }

    fn attach_after(
        &mut self,
        view: u64,
        viewer: Viewer,
        how: How,
        setup: Setup,
        after: Option<After>,
    ) -> u64 {
        let request = self.request();
        let mut client = Client::new(viewer.version, request.0);
        // One that attaches again reads as it did.
        client.reads = self.clients.get(&view).is_none_or(|before| before.reads);
        self.clients.insert(view, client);
        let view = ViewId(view);
        let setup = Arc::new(setup);
        self.step(Input::Attach(Box::new(Attach {
            request,
            view,
            viewer,
            how,
            setup,
            after,
        })));
        request.0
    }

    pub(crate) fn detach(&mut self, view: u64) {
        self.step(Input::Detach { view: ViewId(view) });
        self.clients.remove(&view);
    }

    pub(crate) fn prompt(&mut self, view: u64, text: &str) -> u64 {
        self.prompt_as(view, text, None)
    }

    pub(crate) fn prompt_as(&mut self, view: u64, text: &str, operation: Option<&str>) -> u64 {
        let request = self.request();
        self.step(Input::Prompt(Prompt {
            request,
            view: ViewId(view),
            content: vec![text.to_owned().into()],
            operation: operation.map(str::to_owned),
            steers: false,
        }));
        request.0
    }

    pub(crate) fn steer(&mut self, view: u64, text: &str) -> u64 {
        let request = self.request();
        self.step(Input::Prompt(Prompt {
            request,
            view: ViewId(view),
            content: vec![text.to_owned().into()],
            operation: None,
            steers: true,
        }));
        request.0
    }

    pub(crate) fn cancel(&mut self, view: u64) {
        let view = Some(ViewId(view));
        self.step(Input::Cancel { view });
    }

    pub(crate) fn withdraw(&mut self, request: u64) {
        let request = RequestId(request);
        self.step(Input::Withdraw { request });
    }

    pub(crate) fn close(&mut self, view: u64) -> u64 {
        self.close_with(Some(view), Keep::All)
    }

    pub(crate) fn close_with(&mut self, view: Option<u64>, journal: Keep) -> u64 {
        let request = view.map(|_| self.request());
        let view = view.map(ViewId);
        self.step(Input::Close(Close {
            request,
            view,
            journal,
        }));
        request.map_or(0, |request| request.0)
    }

    /// Closes the session for a request without a view.
    pub(crate) fn close_by_host(&mut self, journal: Keep) -> u64 {
        let request = self.request();
        self.step(Input::Close(Close {
            request: Some(request),
            view: None,
            journal,
        }));
        request.0
    }

    pub(crate) fn say(&mut self, text: &str) {
        let (turn, thought, content) = (self.turn, false, text.to_owned().into());
        self.step(Input::Say {
            turn,
            thought,
            content,
        });
    }

    pub(crate) fn update(&mut self, update: v2::SessionUpdate) {
        let (turn, edits) = (self.turn, Vec::new());
        self.step(Input::Update {
            turn,
            update,
            edits,
        });
    }

    pub(crate) fn call(&mut self, id: &str, status: v2::ToolCallStatus) {
        let update = v2::ToolCallUpdate::new(id.to_owned())
            .title(id)
            .status(status);
        self.update(v2::SessionUpdate::ToolCallUpdate(update));
    }

    pub(crate) fn end(&mut self) {
        self.end_with(Outcome::Stopped(Stop::EndTurn));
    }

    pub(crate) fn end_with(&mut self, outcome: Outcome) {
        let turn = self.turn.take().expect("a turn was started");
        self.step(Input::Ended { turn, outcome });
    }
}
