//! What the agent does for each prompt, the same in both versions.

use agent_client_protocol::Result;

/// Why a turn ended.
pub(crate) enum End {
    Finished,
    MaxTokens,
    MaxTurnRequests,
    Refusal,
    Cancelled,
    Failed,
}

/// Where the turn's one tool call has got to.
pub(crate) enum Step {
    Announced,
    Started,
    Edited,
    Completed,
    Failed,
    Cancelled,
}

/// What the client said to a permission request.
pub(crate) enum Verdict {
    Allowed,
    Rejected,
    Cancelled,
}

/// How a turn speaks to its client, in the words of one protocol version.
pub(crate) trait Voice: Send {
    fn think(&self, text: &str) -> Result<()>;
    fn say(&self, text: &str) -> Result<()>;
    /// Sends the plan of three entries, of which the first `done` are completed.
    fn plan(&self, done: usize) -> Result<()>;
    fn tool(&self, step: Step) -> Result<()>;
    fn ask(&mut self) -> impl Future<Output = Result<Verdict>> + Send;
    /// Reads a file through the client; `None` when it offers no files.
    fn read(&mut self, path: &str) -> impl Future<Output = Result<Option<String>>> + Send;
    /// Runs a command in a terminal of the client; `None` when it offers none.
    fn run(&mut self, command: &str) -> impl Future<Output = Result<Option<String>>> + Send;
    /// Waits for `session/cancel`.
    fn cancelled(&mut self) -> impl Future<Output = ()> + Send;
}

/// Does what the prompt says.
pub(crate) async fn perform(voice: &mut impl Voice, prompt: &str) -> Result<End> {
    let (word, rest) = prompt.split_once(' ').unwrap_or((prompt, ""));
    match word {
        "hello" => {
            voice.think("A greeting.")?;
            voice.say("Hello, ")?;
            voice.say("world.")?;
            Ok(End::Finished)
        }
        "tool" => edit(voice).await,
        "wait" => {
            voice.tool(Step::Announced)?;
            voice.tool(Step::Started)?;
            voice.say("waiting")?;
            voice.cancelled().await;
            voice.tool(Step::Cancelled)?;
            Ok(End::Cancelled)
        }
        "plan" => {
            voice.plan(0)?;
            voice.plan(2)?;
            Ok(End::Finished)
        }
        "fail" => Ok(End::Failed),
        "refuse" => Ok(End::Refusal),
        "tokens" => Ok(End::MaxTokens),
        "requests" => Ok(End::MaxTurnRequests),
        "read" => {
            let content = voice.read(rest).await?;
            voice.say(content.as_deref().unwrap_or("no files"))?;
            Ok(End::Finished)
        }
        "term" => {
            let output = voice.run(rest).await?;
            voice.say(output.as_deref().unwrap_or("no terminal"))?;
            Ok(End::Finished)
        }
        _ => {
            voice.say(prompt)?;
            Ok(End::Finished)
        }
    }
}

async fn edit(voice: &mut impl Voice) -> Result<End> {
    voice.tool(Step::Announced)?;
    match voice.ask().await? {
        Verdict::Allowed => {
            voice.tool(Step::Started)?;
            voice.tool(Step::Edited)?;
            voice.tool(Step::Completed)?;
            voice.say("done")?;
            Ok(End::Finished)
        }
        Verdict::Rejected => {
            voice.tool(Step::Failed)?;
            voice.say("rejected")?;
            Ok(End::Finished)
        }
        Verdict::Cancelled => {
            voice.tool(Step::Cancelled)?;
            Ok(End::Cancelled)
        }
    }
}
