//! A place where a reply waits until the test lets it go on.

use tokio::sync::watch;

/// A place where a reply waits until the test lets it go on.
///
/// Clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate {
    open: watch::Sender<bool>,
    reached: watch::Sender<bool>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Returns a closed gate.
    pub fn new() -> Self {
        Self {
            open: watch::Sender::new(false),
            reached: watch::Sender::new(false),
        }
    }

    /// Opens the gate for good.
    pub fn open(&self) {
        self.open.send_replace(true);
    }

    /// Waits until the server stands at the gate: everything before it was given to the socket.
    ///
    /// # Cancel safety
    ///
    /// Safe to drop; nothing is lost.
    pub async fn reached(&self) {
        wait(&self.reached).await;
    }

    /// Stands at the gate until it is open.
    pub(crate) async fn pass(&self) {
        self.reached.send_replace(true);
        wait(&self.open).await;
    }
}

async fn wait(flag: &watch::Sender<bool>) {
    let mut flag = flag.subscribe();
    // The sender is held by the gate that is borrowed here, so it cannot be gone.
    flag.wait_for(|set| *set).await.unwrap();
}
