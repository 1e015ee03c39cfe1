//! Content: what prompts may hold, and what agents say.

mod said;
mod taken;

pub(super) use self::said::look;
use super::bench::Bench;
use crate::rule::Rule;
use crate::topic::{Probe, Topic};

pub(super) const TOPIC: Topic<Bench> = Topic {
    rules: &[
        Rule::agent("V1-CONTENT-01", "What an agent says is one of the five kinds of blocks.")
            .matters("Clients cannot show the block.")
            .fix("Send `text`, `image`, `audio`, `resource_link` or `resource`."),
        Rule::agent("V1-CONTENT-02", "Every agent takes text.")
            .matters("Users cannot say anything.")
            .fix("Accept blocks of type `text` in every prompt."),
        Rule::agent("V1-CONTENT-03", "Every agent takes links to resources.")
            .matters("Clients send mentioned files as links, and the whole prompt is refused.")
            .fix("Accept blocks of type `resource_link`, and at least tell the model about the URI."),
        Rule::agent("V1-CONTENT-08", "Blocks have the members that their kind needs.")
            .matters("Typed clients cannot read the update.")
            .fix("Give `text` for text, `data` and `mimeType` for images and audio, `uri` and `name` for links, `resource` for embedded ones."),
        Rule::agent("V1-CONTENT-09", "Annotations of a block do no harm.")
            .may()
            .matters("Prompts of clients that annotate are refused.")
            .fix("Read annotations as advice, and ignore what is not known."),
        Rule::agent("V1-CONTENT-11", "A prompt with a kind of block that was not announced is refused with -32602.")
            .unspecified()
            .matters("Users believe that the agent has seen their picture.")
            .fix("Check every block against the own `promptCapabilities` before the turn starts."),
        Rule::agent("V1-MSGID-01", "`messageId`, if given, is a string.")
            .may()
            .matters("Clients cannot tell where one message ends.")
            .fix("Give the same string with all chunks of a message, or none."),
        Rule::agent("V2-CONTENT-01", "What an agent says is one of the five kinds of blocks, or a custom kind that begins with `_`.")
            .matters("Clients cannot show the block.")
            .fix("Send a known kind with its members, or mark custom ones with `_`."),
        Rule::agent("V2-CONTENT-03", "Data is base64, priorities lie between 0 and 1, URIs are not empty.")
            .matters("Clients drop the block.")
            .fix("Encode data with padding, and keep priorities in their range."),
        Rule::agent("V2-MSG-01", "Every message and every chunk has a `messageId`.")
            .matters("Clients cannot put a chunk to its message.")
            .fix("Give each message an id, also thoughts, and repeat it with each chunk."),
    ],
    probes: &[
        Probe {
            name: "prompts with content that every agent takes",
            rules: &["V1-CONTENT-03", "V1-CONTENT-09", "V2-INIT-12"],
            run: |bench| Box::pin(taken::by_all(bench)),
        },
        Probe {
            name: "prompts with content that was not offered",
            rules: &["V1-CONTENT-11", "V2-PROMPT-03", "V2-PROMPT-12"],
            run: |bench| Box::pin(taken::by_some(bench)),
        },
    ],
};
