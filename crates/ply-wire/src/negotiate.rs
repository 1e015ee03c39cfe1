//! Version negotiation: which version a connection speaks, decided from `initialize` alone.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::method::{DecodeError, decode_params, decode_result};
use crate::{ProtocolVersion, v1, v2};

/// The name and version put where version 2 wants an identity and none was given.
pub const UNKNOWN_IDENTITY: &str = "unknown";

/// A protocol version that this crate speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Protocol version 1.
    V1,
    /// Protocol version 2.
    V2,
}

impl Version {
    /// Returns the version as it is written on the wire.
    #[must_use]
    pub fn wire(self) -> ProtocolVersion {
        match self {
            Self::V1 => ProtocolVersion::V1,
            Self::V2 => ProtocolVersion::V2,
        }
    }
}

/// The versions one end is willing to speak. There is always at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Supported {
    /// Only version 1.
    V1,
    /// Only version 2.
    V2,
    /// Versions 1 and 2.
    Both,
}

impl Supported {
    /// Returns the versions, oldest first.
    #[must_use]
    pub fn versions(self) -> &'static [Version] {
        match self {
            Self::V1 => &[Version::V1],
            Self::V2 => &[Version::V2],
            Self::Both => &[Version::V1, Version::V2],
        }
    }

    /// Returns the newest version, which a client asks for.
    #[must_use]
    pub fn newest(self) -> Version {
        match self {
            Self::V1 => Version::V1,
            Self::V2 | Self::Both => Version::V2,
        }
    }

    /// Finds a wire version among these.
    #[must_use]
    pub fn find(self, wire: ProtocolVersion) -> Option<Version> {
        self.versions()
            .iter()
            .copied()
            .find(|version| version.wire() == wire)
    }
}

/// The agent speaks no version at or below the one requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("protocol version {requested} is not supported")]
pub struct UnsupportedVersion {
    /// The version the client asked for.
    pub requested: ProtocolVersion,
    /// What the agent speaks.
    pub supported: Supported,
}

impl From<UnsupportedVersion> for v2::Error {
    /// Makes the answer: -32022 with `{requested, supported}` as data.
    fn from(error: UnsupportedVersion) -> Self {
        let supported: Vec<_> = error
            .supported
            .versions()
            .iter()
            .map(|v| v.wire())
            .collect();
        Self::unsupported_protocol_version(error.requested, &supported)
    }
}

/// Chooses the version an agent answers with: the newest at or below the request.
///
/// An agent that speaks version 1 answers 1 to anything older too, since version 1 clients know
/// no version error and expect the agent's own version instead.
///
/// # Errors
///
/// [`UnsupportedVersion`] if all supported versions are newer than the request.
pub fn choose(
    requested: ProtocolVersion,
    supported: Supported,
) -> Result<Version, UnsupportedVersion> {
    let at_or_below = |version: &&Version| version.wire() <= requested;
    match supported.versions().iter().rev().find(at_or_below) {
        Some(version) => Ok(*version),
        None if supported.find(ProtocolVersion::V1).is_some() => Ok(Version::V1),
        None => Err(UnsupportedVersion {
            requested,
            supported,
        }),
    }
}

/// `initialize` params whose version is read and whose shape is still open.
#[derive(Debug, Clone)]
pub struct InitializeOffer {
    requested: ProtocolVersion,
    params: Box<RawValue>,
}

/// `initialize` params in the shape of the chosen version.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one a connection, taken apart where it is made"
)]
pub enum InitializeParams {
    /// Version 1 was chosen.
    V1(v1::InitializeRequest),
    /// Version 2 was chosen.
    V2(v2::InitializeRequest),
}

impl InitializeOffer {
    /// Reads the requested version, which must be an integer from 0 to 65535.
    ///
    /// # Errors
    ///
    /// [`DecodeError::InvalidParams`] if there is none or it is anything else.
    pub fn read(params: Option<&RawValue>) -> Result<Self, DecodeError> {
        let requested = decode_params::<VersionOnly>(params)?.protocol_version;
        let params = params.unwrap_or(RawValue::NULL).to_owned();
        Ok(Self { requested, params })
    }

    /// Returns the version the client asked for.
    #[must_use]
    pub fn requested(&self) -> ProtocolVersion {
        self.requested
    }

    /// Decodes the params in the shape of the version that [`choose`] chose.
    ///
    /// Malformed capabilities count as absent in both versions. A client that asks for something
    /// newer than the chosen version may use shapes nobody here knows, so then all that cannot be
    /// read is dropped; its identity is taken from wherever it can be read, for display only.
    ///
    /// # Errors
    ///
    /// [`DecodeError::InvalidParams`] if version 2 was asked for without a proper `info`.
    pub fn decode(&self, chosen: Version) -> Result<InitializeParams, DecodeError> {
        match chosen {
            Version::V1 => self.decode_v1().map(InitializeParams::V1),
            Version::V2 if self.requested == ProtocolVersion::V2 => {
                decode_params(Some(&self.params)).map(InitializeParams::V2)
            }
            Version::V2 => self.decode_newer().map(InitializeParams::V2),
        }
    }

    fn decode_v1(&self) -> Result<v1::InitializeRequest, DecodeError> {
        let mut request: v1::InitializeRequest = decode_params(Some(&self.params))?;
        if request.client_info.is_none() && self.requested > ProtocolVersion::V1 {
            let loose: Loose<'_> = self.loose()?;
            request.client_info = loose.info.and_then(readable);
        }
        Ok(request)
    }

    fn decode_newer(&self) -> Result<v2::InitializeRequest, DecodeError> {
        let loose = self.loose()?;
        let info = loose
            .info
            .and_then(readable)
            .unwrap_or_else(|| v2::Implementation::new(UNKNOWN_IDENTITY, UNKNOWN_IDENTITY));
        let mut request = v2::InitializeRequest::new(self.requested, info);
        request.capabilities = loose.capabilities.and_then(readable).unwrap_or_default();
        request.meta = loose.meta.and_then(readable);
        Ok(request)
    }

    fn loose(&self) -> Result<Loose<'_>, DecodeError> {
        // `read` has already decoded an object from this text; only a repeated key can fail here.
        serde_json::from_str(self.params.get())
            .map_err(|_| DecodeError::InvalidParams("a field appears twice".into()))
    }
}

/// An `initialize` answer in the shape of the version it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InitializeAnswer {
    /// The agent chose version 1.
    V1(v1::InitializeResponse),
    /// The agent chose version 2.
    V2(v2::InitializeResponse),
}

/// Why a client cannot use an agent's `initialize` answer. The client disconnects and says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The agent answered with a version that the client did not offer.
    #[error(
        "the agent answered with protocol version {answered}, which this client does not speak"
    )]
    Version {
        /// The version in the answer.
        answered: ProtocolVersion,
    },
    /// The answer names version 2 and has the shape of version 1: the agent sends back the version it was asked for, whatever it
    /// speaks. Asked for version 1, it speaks that.
    #[error("the agent answered protocol version 2 in the shape of version 1")]
    Echoed,
    /// The answer itself could not be read.
    #[error("the agent's initialize answer is malformed")]
    Malformed(#[from] DecodeError),
}

/// Checks that a client speaks the version an agent answered with.
///
/// # Errors
///
/// [`AnswerError::Version`] if it does not.
pub fn check_answer(
    answered: ProtocolVersion,
    supported: Supported,
) -> Result<Version, AnswerError> {
    supported
        .find(answered)
        .ok_or(AnswerError::Version { answered })
}

/// Reads an `initialize` answer in the shape of the version it names.
///
/// # Errors
///
/// [`AnswerError`] if the version is not spoken or the answer does not fit it.
pub fn read_answer(
    result: &RawValue,
    supported: Supported,
) -> Result<InitializeAnswer, AnswerError> {
    let answered = decode_result::<VersionOnly>(result)?.protocol_version;
    Ok(match check_answer(answered, supported)? {
        Version::V1 => InitializeAnswer::V1(decode_result(result)?),
        Version::V2 => match decode_result(result) {
            Ok(answer) => InitializeAnswer::V2(answer),
            Err(_) if has_shape_of_v1(result) => return Err(AnswerError::Echoed),
            Err(error) => return Err(error.into()),
        },
    })
}

/// Returns whether an answer has no member that is of version 2 alone, and is one of version 1 but for its number.
fn has_shape_of_v1(result: &RawValue) -> bool {
    let Ok(members) = serde_json::from_str::<Loose<'_>>(result.get()) else {
        return false;
    };
    let is_v2 = members.info.is_some() || members.capabilities.is_some();
    !is_v2 && decode_result::<v1::InitializeResponse>(result).is_ok()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VersionOnly {
    protocol_version: ProtocolVersion,
}

/// The fields of a version 2 request or answer, none of them looked into yet.
#[derive(Deserialize)]
struct Loose<'a> {
    #[serde(borrow, default)]
    info: Option<&'a RawValue>,
    #[serde(borrow, default)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

fn readable<T: for<'de> Deserialize<'de>>(text: &RawValue) -> Option<T> {
    serde_json::from_str(text.get()).ok()
}
