//! Elicitation: the same methods in both versions, with a few more open ends in version 2.
//!
//! Most types have the same fields under both versions, so one macro writes both directions and
//! the functions around it hold the differences.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{v1, v2};

/// Turns `elicitation/create` params into version 1.
///
/// `requests` finds, for the id of a request that a version 2 peer sent, the id of the same
/// request on the version 1 side; ids differ from link to link. `None` if it finds none: the
/// request was answered meanwhile, so the question is moot and the caller answers it `cancel`.
///
/// Lost: a string format that version 1 does not know.
pub fn request_down(
    request: &v2::CreateElicitationRequest,
    requests: impl FnOnce(&v2::RequestId) -> Option<v1::RequestId>,
) -> Option<v1::CreateElicitationRequest> {
    down::request(request, requests)
}

/// Turns `elicitation/create` params into version 2; `requests` as for [`request_down`].
///
/// Nothing is lost.
pub fn request_up(
    request: &v1::CreateElicitationRequest,
    requests: impl FnOnce(&v1::RequestId) -> Option<v2::RequestId>,
) -> Option<v2::CreateElicitationRequest> {
    up::request(request, requests)
}

/// Turns an `elicitation/create` answer into version 1.
///
/// Lost: an unknown action becomes `cancel`, so that nothing is taken for consent. A form value
/// that is neither a string, a number, a boolean nor a list of strings is left out; the agent
/// checks the form again and sees it missing.
#[must_use]
pub fn response_down(response: &v2::CreateElicitationResponse) -> v1::CreateElicitationResponse {
    down::response(response)
}

/// Turns an `elicitation/create` answer into version 2.
///
/// Lost: an unknown action becomes `cancel`, so that nothing is taken for consent.
#[must_use]
pub fn response_up(response: &v1::CreateElicitationResponse) -> v2::CreateElicitationResponse {
    up::response(response)
}

/// Turns an `elicitation/complete` notification into version 1. Nothing is lost.
#[must_use]
pub fn complete_down(
    complete: &v2::CompleteElicitationNotification,
) -> v1::CompleteElicitationNotification {
    v1::CompleteElicitationNotification::new(Arc::clone(&complete.elicitation_id.0))
        .meta(complete.meta.clone())
}

/// Turns an `elicitation/complete` notification into version 2. Nothing is lost.
#[must_use]
pub fn complete_up(
    complete: &v1::CompleteElicitationNotification,
) -> v2::CompleteElicitationNotification {
    v2::CompleteElicitationNotification::new(Arc::clone(&complete.elicitation_id.0))
        .meta(complete.meta.clone())
}

/// Turns a client's elicitation capabilities into version 1. Nothing is lost.
#[must_use]
pub fn capabilities_down(client: &v2::ElicitationCapabilities) -> v1::ElicitationCapabilities {
    down::capabilities(client)
}

/// Turns a client's elicitation capabilities into version 2. Nothing is lost.
#[must_use]
pub fn capabilities_up(client: &v1::ElicitationCapabilities) -> v2::ElicitationCapabilities {
    up::capabilities(client)
}

/// Returns whether a form asks only for plain values and choices among them (V1-ELIC-13). A field of a type that is not known,
/// and does not hold others, is for whoever shows the form to judge.
#[must_use]
pub fn is_flat(schema: &v2::ElicitationSchema) -> bool {
    let holds_others = |type_: &str| matches!(type_, "object" | "array");
    schema.properties.values().all(|property| match property {
        v2::ElicitationPropertySchema::Other(other) => !holds_others(&other.type_),
        v2::ElicitationPropertySchema::Array(array) => match &array.items {
            v2::MultiSelectItems::Other(items) => !holds_others(&items.type_),
            _ => true,
        },
        _ => true,
    })
}

fn format_down(format: &v2::StringFormat) -> Option<v1::StringFormat> {
    Some(match format {
        v2::StringFormat::Email => v1::StringFormat::Email,
        v2::StringFormat::Uri => v1::StringFormat::Uri,
        v2::StringFormat::Date => v1::StringFormat::Date,
        v2::StringFormat::DateTime => v1::StringFormat::DateTime,
        _ => return None,
    })
}

fn format_up(format: &v1::StringFormat) -> Option<v2::StringFormat> {
    Some(match format {
        v1::StringFormat::Email => v2::StringFormat::Email,
        v1::StringFormat::Uri => v2::StringFormat::Uri,
        v1::StringFormat::Date => v2::StringFormat::Date,
        v1::StringFormat::DateTime => v2::StringFormat::DateTime,
        _ => return None,
    })
}

macro_rules! direction {
    ($direction:ident: $from:ident => $to:ident, $format:ident) => {
        mod $direction {
            use super::*;

            pub(super) fn request(
                request: &$from::CreateElicitationRequest,
                requests: impl FnOnce(&$from::RequestId) -> Option<$to::RequestId>,
            ) -> Option<$to::CreateElicitationRequest> {
                let scope = scope(request.scope(), requests)?;
                let mode = match &request.mode {
                    $from::ElicitationMode::Form(form) => $to::ElicitationMode::Form(
                        $to::ElicitationFormMode::new(scope, schema(&form.requested_schema)?),
                    ),
                    $from::ElicitationMode::Url(url) => {
                        $to::ElicitationMode::Url($to::ElicitationUrlMode::new(
                            scope,
                            Arc::clone(&url.elicitation_id.0),
                            url.url.clone(),
                        ))
                    }
                    $from::ElicitationMode::Other(other) => {
                        $to::ElicitationMode::Other($to::OtherElicitationMode::new(
                            other.mode.clone(),
                            scope,
                            other.fields.clone(),
                        ))
                    }
                    _ => return None,
                };
                let out = $to::CreateElicitationRequest::new(mode, request.message.clone());
                Some(out.meta(request.meta.clone()))
            }

            fn scope(
                scope: &$from::ElicitationScope,
                requests: impl FnOnce(&$from::RequestId) -> Option<$to::RequestId>,
            ) -> Option<$to::ElicitationScope> {
                Some(match scope {
                    $from::ElicitationScope::Session(session) => {
                        let tool_call = session.tool_call_id.as_ref();
                        $to::ElicitationSessionScope::new(Arc::clone(&session.session_id.0))
                            .tool_call_id(
                                tool_call.map(|id| $to::ToolCallId::new(Arc::clone(&id.0))),
                            )
                            .into()
                    }
                    $from::ElicitationScope::Request(request) => {
                        $to::ElicitationRequestScope::new(requests(&request.request_id)?).into()
                    }
                    _ => return None,
                })
            }

            fn schema(schema: &$from::ElicitationSchema) -> Option<$to::ElicitationSchema> {
                let mut out = $to::ElicitationSchema::new();
                out.title.clone_from(&schema.title);
                out.description.clone_from(&schema.description);
                out.required.clone_from(&schema.required);
                out.meta.clone_from(&schema.meta);
                for (name, from) in &schema.properties {
                    out.properties.insert(name.clone(), property(from)?);
                }
                Some(out)
            }

            fn property(
                property: &$from::ElicitationPropertySchema,
            ) -> Option<$to::ElicitationPropertySchema> {
                Some(match property {
                    $from::ElicitationPropertySchema::String(from) => {
                        let mut out = $to::StringPropertySchema::new();
                        out.title.clone_from(&from.title);
                        out.description.clone_from(&from.description);
                        out.min_length = from.min_length;
                        out.max_length = from.max_length;
                        out.pattern.clone_from(&from.pattern);
                        out.format = from.format.as_ref().and_then($format);
                        out.default.clone_from(&from.default);
                        out.enum_values.clone_from(&from.enum_values);
                        out.one_of = from.one_of.as_deref().map(enum_options);
                        out.meta.clone_from(&from.meta);
                        out.into()
                    }
                    $from::ElicitationPropertySchema::Number(from) => {
                        let mut out = $to::NumberPropertySchema::new();
                        out.title.clone_from(&from.title);
                        out.description.clone_from(&from.description);
                        out.minimum = from.minimum;
                        out.maximum = from.maximum;
                        out.default = from.default;
                        out.meta.clone_from(&from.meta);
                        out.into()
                    }
                    $from::ElicitationPropertySchema::Integer(from) => {
                        let mut out = $to::IntegerPropertySchema::new();
                        out.title.clone_from(&from.title);
                        out.description.clone_from(&from.description);
                        out.minimum = from.minimum;
                        out.maximum = from.maximum;
                        out.default = from.default;
                        out.meta.clone_from(&from.meta);
                        out.into()
                    }
                    $from::ElicitationPropertySchema::Boolean(from) => {
                        let mut out = $to::BooleanPropertySchema::new();
                        out.title.clone_from(&from.title);
                        out.description.clone_from(&from.description);
                        out.default = from.default;
                        out.meta.clone_from(&from.meta);
                        out.into()
                    }
                    $from::ElicitationPropertySchema::Array(from) => {
                        let mut out = $to::MultiSelectPropertySchema::new(Vec::new());
                        out.title.clone_from(&from.title);
                        out.description.clone_from(&from.description);
                        out.min_items = from.min_items;
                        out.max_items = from.max_items;
                        out.items = items(&from.items)?;
                        out.default.clone_from(&from.default);
                        out.meta.clone_from(&from.meta);
                        out.into()
                    }
                    $from::ElicitationPropertySchema::Other(from) => {
                        $to::ElicitationPropertySchema::Other(
                            $to::OtherElicitationPropertySchema::new(
                                from.type_.clone(),
                                from.fields.clone(),
                            ),
                        )
                    }
                    _ => return None,
                })
            }

            fn items(items: &$from::MultiSelectItems) -> Option<$to::MultiSelectItems> {
                Some(match items {
                    $from::MultiSelectItems::String(from) => $to::MultiSelectItems::String(
                        $to::StringMultiSelectItems::new(from.values.clone())
                            .meta(from.meta.clone()),
                    ),
                    $from::MultiSelectItems::Titled(from) => $to::MultiSelectItems::Titled(
                        $to::TitledMultiSelectItems::new(enum_options(&from.options))
                            .meta(from.meta.clone()),
                    ),
                    $from::MultiSelectItems::Other(from) => $to::MultiSelectItems::Other(
                        $to::OtherMultiSelectItems::new(from.type_.clone(), from.fields.clone()),
                    ),
                    _ => return None,
                })
            }

            fn enum_options(options: &[$from::EnumOption]) -> Vec<$to::EnumOption> {
                let options = options.iter().map(|from| {
                    $to::EnumOption::new(from.value.clone(), from.title.clone())
                        .description(from.description.clone())
                        .meta(from.meta.clone())
                });
                options.collect()
            }

            pub(super) fn response(
                response: &$from::CreateElicitationResponse,
            ) -> $to::CreateElicitationResponse {
                let action = match &response.action {
                    $from::ElicitationAction::Accept(accept) => {
                        let mut out = $to::ElicitationAcceptAction::new();
                        out.content = accept.content.as_ref().map(content);
                        $to::ElicitationAction::Accept(out)
                    }
                    $from::ElicitationAction::Decline => $to::ElicitationAction::Decline,
                    _ => $to::ElicitationAction::Cancel,
                };
                $to::CreateElicitationResponse::new(action).meta(response.meta.clone())
            }

            fn content(
                content: &BTreeMap<String, $from::ElicitationContentValue>,
            ) -> BTreeMap<String, $to::ElicitationContentValue> {
                let known = content.iter().filter_map(|(name, value)| {
                    use $from::ElicitationContentValue as From;
                    use $to::ElicitationContentValue as To;
                    let value = match value {
                        From::String(text) => To::String(text.clone()),
                        From::Integer(number) => To::Integer(*number),
                        From::Number(number) => To::Number(*number),
                        From::Boolean(boolean) => To::Boolean(*boolean),
                        From::StringArray(list) => To::StringArray(list.clone()),
                        _ => return None,
                    };
                    Some((name.clone(), value))
                });
                known.collect()
            }

            pub(super) fn capabilities(
                client: &$from::ElicitationCapabilities,
            ) -> $to::ElicitationCapabilities {
                $to::ElicitationCapabilities::new()
                    .form(client.form.as_ref().map(|form| {
                        $to::ElicitationFormCapabilities::new().meta(form.meta.clone())
                    }))
                    .url(
                        client.url.as_ref().map(|url| {
                            $to::ElicitationUrlCapabilities::new().meta(url.meta.clone())
                        }),
                    )
                    .meta(client.meta.clone())
            }
        }
    };
}

direction!(down: v2 => v1, format_down);
direction!(up: v1 => v2, format_up);
