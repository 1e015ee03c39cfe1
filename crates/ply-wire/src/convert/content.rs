//! Content blocks: what a message, a tool call or a summary is made of.
//!
//! Up is exact. Down loses what v1 has no field for: icons, roles other than the two known ones,
//! sizes over
//! `i64::MAX`, and blocks of an unknown type, which become a text that names the type.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{v1, v2};

/// Why a block cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// Its data is not base64.
    #[error("the data of a content block is not base64")]
    Data,
    /// Its priority is not between 0 and 1.
    #[error("the priority of a content block is not between 0 and 1")]
    Priority,
    /// Its address has no scheme.
    #[error("the address of a content block is no URI")]
    Uri,
}

/// Checks what the types of a block do not (V2-CONTENT-03).
///
/// # Errors
///
/// [`Malformed`] says what is wrong.
pub fn check(block: &v2::ContentBlock) -> Result<(), Malformed> {
    let (data, uri, annotations) = match block {
        v2::ContentBlock::Text(text) => (None, None, &text.annotations),
        v2::ContentBlock::Image(image) => {
            (Some(&image.data), image.uri.as_ref(), &image.annotations)
        }
        v2::ContentBlock::Audio(audio) => (Some(&audio.data), None, &audio.annotations),
        v2::ContentBlock::ResourceLink(link) => (None, Some(&link.uri), &link.annotations),
        v2::ContentBlock::Resource(resource) => match &resource.resource {
            v2::EmbeddedResourceResource::TextResourceContents(text) => {
                (None, Some(&text.uri), &resource.annotations)
            }
            v2::EmbeddedResourceResource::BlobResourceContents(blob) => {
                (Some(&blob.blob), Some(&blob.uri), &resource.annotations)
            }
            _ => return Ok(()),
        },
        _ => return Ok(()),
    };
    if data.is_some_and(|data| STANDARD.decode(data).is_err()) {
        return Err(Malformed::Data);
    }
    let priority = annotations
        .as_ref()
        .and_then(|annotations| annotations.priority);
    if priority.is_some_and(|priority| !(0.0..=1.0).contains(&priority)) {
        return Err(Malformed::Priority);
    }
    match uri {
        Some(uri) if !is_uri(uri) => Err(Malformed::Uri),
        _ => Ok(()),
    }
}

/// Returns whether a text begins with a scheme.
fn is_uri(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let is_part = |char: char| char.is_ascii_alphanumeric() || "+-.".contains(char);
    scheme.starts_with(|char: char| char.is_ascii_alphabetic()) && scheme.chars().all(is_part)
}

/// Returns the v1 form of a block; a block of an unknown type becomes a text that names it.
///
/// Texts and data are moved: they may be large.
#[must_use]
pub fn down(block: v2::ContentBlock) -> v1::ContentBlock {
    match block {
        v2::ContentBlock::Text(text) => v1::ContentBlock::Text(
            v1::TextContent::new(text.text)
                .annotations(text.annotations.as_ref().map(annotations_down))
                .meta(text.meta),
        ),
        v2::ContentBlock::Image(image) => v1::ContentBlock::Image(
            v1::ImageContent::new(image.data, image.mime_type.as_ref())
                .uri(image.uri)
                .annotations(image.annotations.as_ref().map(annotations_down))
                .meta(image.meta),
        ),
        v2::ContentBlock::Audio(audio) => v1::ContentBlock::Audio(
            v1::AudioContent::new(audio.data, audio.mime_type.as_ref())
                .annotations(audio.annotations.as_ref().map(annotations_down))
                .meta(audio.meta),
        ),
        v2::ContentBlock::ResourceLink(link) => v1::ContentBlock::ResourceLink(
            v1::ResourceLink::new(link.name, link.uri)
                .title(link.title)
                .description(link.description)
                .mime_type(link.mime_type.map(|mime| mime.to_string()))
                .size(link.size.and_then(|size| i64::try_from(size).ok()))
                .annotations(link.annotations.as_ref().map(annotations_down))
                .meta(link.meta),
        ),
        v2::ContentBlock::Resource(resource) => v1::ContentBlock::Resource(
            v1::EmbeddedResource::new(resource_down(resource.resource))
                .annotations(resource.annotations.as_ref().map(annotations_down))
                .meta(resource.meta),
        ),
        v2::ContentBlock::Other(other) => placeholder_down(&other.type_),
        _ => placeholder_down("unknown"),
    }
}

/// Returns the v2 form of a block.
#[must_use]
pub fn up(block: v1::ContentBlock) -> v2::ContentBlock {
    match block {
        v1::ContentBlock::Text(text) => v2::ContentBlock::Text(
            v2::TextContent::new(text.text)
                .annotations(text.annotations.as_ref().map(annotations_up))
                .meta(text.meta),
        ),
        v1::ContentBlock::Image(image) => v2::ContentBlock::Image(
            v2::ImageContent::new(image.data, image.mime_type.as_str())
                .uri(image.uri)
                .annotations(image.annotations.as_ref().map(annotations_up))
                .meta(image.meta),
        ),
        v1::ContentBlock::Audio(audio) => v2::ContentBlock::Audio(
            v2::AudioContent::new(audio.data, audio.mime_type.as_str())
                .annotations(audio.annotations.as_ref().map(annotations_up))
                .meta(audio.meta),
        ),
        v1::ContentBlock::ResourceLink(link) => v2::ContentBlock::ResourceLink(
            v2::ResourceLink::new(link.name, link.uri)
                .title(link.title)
                .description(link.description)
                .mime_type(link.mime_type.map(v2::MediaType::new))
                .size(link.size.and_then(|size| u64::try_from(size).ok()))
                .annotations(link.annotations.as_ref().map(annotations_up))
                .meta(link.meta),
        ),
        v1::ContentBlock::Resource(resource) => match resource_up(resource.resource) {
            Some(contents) => v2::ContentBlock::Resource(
                v2::EmbeddedResource::new(contents)
                    .annotations(resource.annotations.as_ref().map(annotations_up))
                    .meta(resource.meta),
            ),
            None => v2::ContentBlock::from(placeholder("resource")),
        },
        _ => v2::ContentBlock::from(placeholder("unknown")),
    }
}

/// Returns the text that stands for a block whose type the other side cannot read.
pub(crate) fn placeholder(type_: &str) -> String {
    format!("[content of type {type_}]")
}

fn placeholder_down(type_: &str) -> v1::ContentBlock {
    v1::ContentBlock::Text(v1::TextContent::new(placeholder(type_)))
}

fn resource_down(resource: v2::EmbeddedResourceResource) -> v1::EmbeddedResourceResource {
    match resource {
        v2::EmbeddedResourceResource::BlobResourceContents(blob) => {
            v1::EmbeddedResourceResource::BlobResourceContents(
                v1::BlobResourceContents::new(blob.blob, blob.uri)
                    .mime_type(blob.mime_type.map(|mime| mime.to_string()))
                    .meta(blob.meta),
            )
        }
        v2::EmbeddedResourceResource::TextResourceContents(text) => {
            v1::EmbeddedResourceResource::TextResourceContents(
                v1::TextResourceContents::new(text.text, text.uri)
                    .mime_type(text.mime_type.map(|mime| mime.to_string()))
                    .meta(text.meta),
            )
        }
        _ => v1::EmbeddedResourceResource::TextResourceContents(v1::TextResourceContents::new(
            String::new(),
            String::new(),
        )),
    }
}

fn resource_up(resource: v1::EmbeddedResourceResource) -> Option<v2::EmbeddedResourceResource> {
    Some(match resource {
        v1::EmbeddedResourceResource::BlobResourceContents(blob) => {
            v2::EmbeddedResourceResource::BlobResourceContents(
                v2::BlobResourceContents::new(blob.blob, blob.uri)
                    .mime_type(blob.mime_type.map(v2::MediaType::new))
                    .meta(blob.meta),
            )
        }
        v1::EmbeddedResourceResource::TextResourceContents(text) => {
            v2::EmbeddedResourceResource::TextResourceContents(
                v2::TextResourceContents::new(text.text, text.uri)
                    .mime_type(text.mime_type.map(v2::MediaType::new))
                    .meta(text.meta),
            )
        }
        _ => return None,
    })
}

fn annotations_down(annotations: &v2::Annotations) -> v1::Annotations {
    let audience = annotations.audience.as_ref().map(|roles| {
        roles
            .iter()
            .filter_map(|role| match role {
                v2::Role::Assistant => Some(v1::Role::Assistant),
                v2::Role::User => Some(v1::Role::User),
                _ => None,
            })
            .collect::<Vec<_>>()
    });
    v1::Annotations::new()
        .audience(audience)
        .last_modified(annotations.last_modified.clone())
        .priority(annotations.priority)
        .meta(annotations.meta.clone())
}

fn annotations_up(annotations: &v1::Annotations) -> v2::Annotations {
    let audience = annotations.audience.as_ref().map(|roles| {
        roles
            .iter()
            .filter_map(|role| match role {
                v1::Role::Assistant => Some(v2::Role::Assistant),
                v1::Role::User => Some(v2::Role::User),
                _ => None,
            })
            .collect::<Vec<_>>()
    });
    v2::Annotations::new()
        .audience(audience)
        .last_modified(annotations.last_modified.clone())
        .priority(annotations.priority)
        .meta(annotations.meta.clone())
}
