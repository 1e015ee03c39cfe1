//! The macro that turns a method table into trait implementations, data and decode enums.

/// Expands a version's method table. A row reads
/// `Variant(Params -> Result) = "method/name" if "capability.path" checked by function;`, where
/// the function looks at the raw params first, for rules that the params type does not keep.
/// A row of an agent's request may begin with `#[cfg(...)]`; then it is there only with that feature.
macro_rules! method_table {
    (
        schema $schema:ident;
        agent receives {
            requests {
                $($(#[$a_cfg:meta])* $a_req:ident($a_params:ident -> $a_result:ident) = $a_name:literal $(if $a_gate:literal)? $(checked by $a_check:path)?;)*
            }
            notifications {
                $($a_note:ident($a_note_params:ident) = $a_note_name:literal $(if $a_note_gate:literal)?;)*
            }
        }
        client receives {
            requests {
                $($c_req:ident($c_params:ident -> $c_result:ident) = $c_name:literal $(if $c_gate:literal)? $(checked by $c_check:path)?;)*
            }
            notifications {
                $($c_note:ident($c_note_params:ident) = $c_note_name:literal $(if $c_note_gate:literal)?;)*
            }
        }
        either receives {
            notifications {
                $($e_note:ident($e_note_params:ident) = $e_note_name:literal;)*
            }
        }
    ) => {
        /// Every method of this version, as plain data.
        pub const METHODS: &[$crate::method::MethodInfo] = &[
            $($(#[$a_cfg])* $crate::method::table::row!($a_name, Client, Request $(, $a_gate)?),)*
            $($crate::method::table::row!($a_note_name, Client, Notification $(, $a_note_gate)?),)*
            $($crate::method::table::row!($c_name, Agent, Request $(, $c_gate)?),)*
            $($crate::method::table::row!($c_note_name, Agent, Notification $(, $c_note_gate)?),)*
            $($crate::method::table::row!($e_note_name, Either, Notification),)*
        ];

        $($(#[$a_cfg])* $crate::method::table::request!($schema, $a_params -> $a_result, $a_name, Client);)*
        $($crate::method::table::request!($schema, $c_params -> $c_result, $c_name, Agent);)*
        $($crate::method::table::notification!($schema, $a_note_params, $a_note_name, Client);)*
        $($crate::method::table::notification!($schema, $c_note_params, $c_note_name, Agent);)*
        $($crate::method::table::notification!($schema, $e_note_params, $e_note_name, Either);)*

        $crate::method::table::inbound! {
            /// What an agent may receive.
            AgentInbound, $schema,
            [$($(#[$a_cfg])* $a_req($a_params) = $a_name $(checked by $a_check)?,)*],
            [
                $($a_note($a_note_params) = $a_note_name,)*
                $($e_note($e_note_params) = $e_note_name,)*
            ]
        }

        $crate::method::table::inbound! {
            /// What a client may receive.
            ClientInbound, $schema,
            [$($c_req($c_params) = $c_name $(checked by $c_check)?,)*],
            [
                $($c_note($c_note_params) = $c_note_name,)*
                $($e_note($e_note_params) = $e_note_name,)*
            ]
        }
    };
}

macro_rules! row {
    ($name:literal, $sender:ident, $kind:ident) => {
        $crate::method::MethodInfo {
            name: $name,
            sender: $crate::method::Side::$sender,
            kind: $crate::method::Kind::$kind,
            gate: None,
        }
    };
    ($name:literal, $sender:ident, $kind:ident, $gate:literal) => {
        $crate::method::MethodInfo {
            name: $name,
            sender: $crate::method::Side::$sender,
            kind: $crate::method::Kind::$kind,
            gate: Some($gate),
        }
    };
}

macro_rules! request {
    ($schema:ident, $params:ident -> $result:ident, $name:literal, $caller:ident) => {
        impl $crate::method::Request for $crate::$schema::$params {
            const METHOD: &'static str = $name;
            const CALLER: $crate::method::Side = $crate::method::Side::$caller;
            type Response = $crate::$schema::$result;
        }
    };
}

macro_rules! notification {
    ($schema:ident, $params:ident, $name:literal, $sender:ident) => {
        impl $crate::method::Notification for $crate::$schema::$params {
            const METHOD: &'static str = $name;
            const SENDER: $crate::method::Side = $crate::method::Side::$sender;
        }
    };
}

macro_rules! inbound {
    (
        $(#[$doc:meta])*
        $inbound:ident, $schema:ident,
        [$($(#[$cfg:meta])* $request:ident($request_params:ident) = $request_name:literal $(checked by $check:path)?,)*],
        [$($note:ident($note_params:ident) = $note_name:literal,)*]
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        // `allow`, since not every table trips the lint.
        #[allow(
            clippy::large_enum_variant,
            reason = "decoded once and moved straight to its handler; a box would cost an allocation a message"
        )]
        pub enum $inbound {
            $(
                $(#[$cfg])*
                #[doc = concat!("The request `", $request_name, "`.")]
                $request($crate::$schema::$request_params),
            )*
            $(
                #[doc = concat!("The notification `", $note_name, "`.")]
                $note($crate::$schema::$note_params),
            )*
            /// A request or notification of an extension.
            Extension($crate::method::Extension),
        }

        impl $inbound {
            /// Decodes a message straight from its raw text; absent params count as `{}`.
            ///
            /// # Errors
            ///
            /// [`DecodeError`](crate::method::DecodeError) says whether the method is not one
            /// this side takes, or its params do not fit.
            pub fn decode(
                method: &str,
                params: Option<&serde_json::value::RawValue>,
            ) -> Result<Self, $crate::method::DecodeError> {
                match method {
                    $($(#[$cfg])* $request_name => {
                        $($check(params)?;)?
                        $crate::method::decode_params(params).map(Self::$request)
                    })*
                    $($note_name => $crate::method::decode_params(params).map(Self::$note),)*
                    _ if $crate::method::is_extension(method) => {
                        Ok(Self::Extension($crate::method::Extension {
                            method: method.into(),
                            params: params.map(ToOwned::to_owned),
                        }))
                    }
                    _ => Err($crate::method::DecodeError::MethodNotFound),
                }
            }

            /// Decodes like [`decode`](Self::decode), but takes a request's method only from a
            /// request and a notification's only from a notification.
            ///
            /// # Errors
            ///
            /// As for [`decode`](Self::decode); the wrong kind is an unknown method.
            pub fn decode_as(
                kind: $crate::method::Kind,
                method: &str,
                params: Option<&serde_json::value::RawValue>,
            ) -> Result<Self, $crate::method::DecodeError> {
                match Self::kind_of(method) {
                    Some(expected) if expected != kind => {
                        Err($crate::method::DecodeError::MethodNotFound)
                    }
                    _ => Self::decode(method, params),
                }
            }

            /// Encodes the params, as they would be sent again.
            ///
            /// # Errors
            ///
            /// Fails where a value has no JSON form, such as a path that is not UTF-8.
            pub fn encode_params(
                &self,
            ) -> Result<Option<Box<serde_json::value::RawValue>>, serde_json::Error> {
                match self {
                    $($(#[$cfg])* Self::$request(params) => serde_json::value::to_raw_value(params).map(Some),)*
                    $(Self::$note(params) => serde_json::value::to_raw_value(params).map(Some),)*
                    Self::Extension(extension) => Ok(extension.params.clone()),
                }
            }

            /// Returns the method name.
            #[must_use]
            pub fn method(&self) -> &str {
                match self {
                    $($(#[$cfg])* Self::$request(_) => $request_name,)*
                    $(Self::$note(_) => $note_name,)*
                    Self::Extension(extension) => &extension.method,
                }
            }

            /// Returns whether a method this side takes is a request or a notification.
            ///
            /// `None` for methods it does not take and for extensions, which may be either.
            #[must_use]
            pub fn kind_of(method: &str) -> Option<$crate::method::Kind> {
                match method {
                    $($(#[$cfg])* $request_name => Some($crate::method::Kind::Request),)*
                    $($note_name => Some($crate::method::Kind::Notification),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {inbound, method_table, notification, request, row};
