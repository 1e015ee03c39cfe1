//! What a prompt says.

use ply_wire::convert::content::Malformed;
use ply_wire::{convert, v2};

use crate::Error;
use crate::hello::Hello;

/// What the user says to the agent: text, and whatever else belongs to it.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use]
pub struct Prompt {
    content: Vec<v2::ContentBlock>,
    meta: Option<v2::Meta>,
}

impl Prompt {
    /// Returns a prompt of one text.
    pub fn new(text: impl Into<String>) -> Self {
        Self::default().text(text)
    }

    /// Returns a prompt that runs a command of [`Session::commands`](crate::Session::commands): `/name input`, which is
    /// ordinary text to the protocol. More content may follow.
    pub fn command(name: impl AsRef<str>, input: impl AsRef<str>) -> Self {
        let (name, input) = (name.as_ref(), input.as_ref());
        match input.is_empty() {
            true => Self::new(format!("/{name}")),
            false => Self::new(format!("/{name} {input}")),
        }
    }

    /// Adds a text.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.block(v2::ContentBlock::from(text.into()))
    }

    /// Adds a text file as context. An agent that takes no embedded files gets a link to it instead.
    pub fn resource(self, uri: impl Into<String>, text: impl Into<String>) -> Self {
        let contents = v2::TextResourceContents::new(text.into(), uri.into());
        let contents = v2::EmbeddedResourceResource::TextResourceContents(contents);
        self.block(v2::ContentBlock::Resource(v2::EmbeddedResource::new(
            contents,
        )))
    }

    /// Adds a link to something the agent can read by itself.
    pub fn link(self, uri: impl Into<String>) -> Self {
        let uri = uri.into();
        let link = v2::ResourceLink::new(name_of(&uri), uri);
        self.block(v2::ContentBlock::ResourceLink(link))
    }

    /// Adds any block.
    pub fn block(mut self, block: v2::ContentBlock) -> Self {
        self.content.push(block);
        self
    }

    /// Sets the `_meta` of the request. That of content is in its blocks.
    pub fn meta(mut self, meta: v2::Meta) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Returns the blocks as this agent takes them, and the metadata.
    pub(crate) fn fit(self, agent: &Hello) -> Result<Fitted, Error> {
        if self.content.is_empty() {
            let what = "the prompt is empty; say something";
            return Err(Error::Invalid { what });
        }
        let content = self.content.into_iter();
        let content = content.map(|block| fit_block(block, agent));
        Ok(Fitted {
            content: content.collect::<Result<_, _>>()?,
            meta: self.meta,
        })
    }
}

/// A prompt that can be sent to its agent.
#[derive(Debug, Default)]
pub(crate) struct Fitted {
    pub(crate) content: Vec<v2::ContentBlock>,
    pub(crate) meta: Option<v2::Meta>,
}

fn fit_block(block: v2::ContentBlock, agent: &Hello) -> Result<v2::ContentBlock, Error> {
    match convert::content::check(&block) {
        Err(Malformed::Data) => {
            let what = "the data of a content block must be base64";
            return Err(Error::Invalid { what });
        }
        Err(Malformed::Priority) => {
            let what = "the priority of a content block must be between 0 and 1";
            return Err(Error::Invalid { what });
        }
        Err(_) => {
            let what = "the address of a content block must be a URI, such as `file:///path`";
            return Err(Error::Invalid { what });
        }
        Ok(()) => {}
    }
    let refused = |what, hint| Err(Error::NotOffered { what, hint });
    match block {
        v2::ContentBlock::Image(_) if !agent.takes_images() => {
            refused("images in prompts", "describe the picture in words")
        }
        v2::ContentBlock::Audio(_) if !agent.takes_audio() => {
            refused("audio in prompts", "send a transcription as text")
        }
        v2::ContentBlock::Resource(resource) if !agent.takes_resources() => Ok(linked(&resource)),
        block => Ok(block),
    }
}

/// Every agent takes links, so an embedded resource can always be named.
fn linked(resource: &v2::EmbeddedResource) -> v2::ContentBlock {
    let (uri, mime_type) = match &resource.resource {
        v2::EmbeddedResourceResource::TextResourceContents(text) => (&text.uri, &text.mime_type),
        v2::EmbeddedResourceResource::BlobResourceContents(blob) => (&blob.uri, &blob.mime_type),
        _ => return v2::ContentBlock::from("[a resource of an unknown form]"),
    };
    let link = v2::ResourceLink::new(name_of(uri), uri.clone())
        .mime_type(mime_type.clone())
        .annotations(resource.annotations.clone());
    v2::ContentBlock::ResourceLink(link)
}

fn name_of(uri: &str) -> String {
    let name = uri.trim_end_matches('/').rsplit('/').next();
    name.filter(|name| !name.is_empty())
        .unwrap_or(uri)
        .to_owned()
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&String> for Prompt {
    fn from(text: &String) -> Self {
        Self::new(text)
    }
}

impl From<Vec<v2::ContentBlock>> for Prompt {
    fn from(content: Vec<v2::ContentBlock>) -> Self {
        Self {
            content,
            meta: None,
        }
    }
}
