//! URLs that an agent asks the user to visit.

use ply_wire::v2;

use crate::Elicitation;

/// A URL that the user is asked to visit.
///
/// Show [`url`](Self::url) whole and [`host`](Self::host) clearly, and open it only after the user agreed, in a browser of
/// theirs: what they enter there is for nobody here. Nothing is fetched by this library. To agree is not to be done; the end of
/// the visit is [`Event::VisitFinished`](crate::Event::VisitFinished), if the agent tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit<'a> {
    url: &'a str,
    id: &'a v2::ElicitationId,
}

impl Elicitation {
    /// Returns the URL that the user is asked to visit, if that is what is asked.
    #[must_use]
    pub fn visit(&self) -> Option<Visit<'_>> {
        Visit::of(self.request())
    }
}

impl<'a> Visit<'a> {
    /// Returns the URL that `request` asks the user to visit, if that is what it asks.
    #[must_use]
    pub fn of(request: &'a v2::CreateElicitationRequest) -> Option<Self> {
        match &request.mode {
            v2::ElicitationMode::Url(url) => Some(Self {
                url: &url.url,
                id: &url.elicitation_id,
            }),
            _ => None,
        }
    }

    /// Returns the URL, whole.
    #[must_use]
    pub fn url(&self) -> &'a str {
        self.url
    }

    /// Returns the name under which the end of the visit is told.
    #[must_use]
    pub fn id(&self) -> &'a v2::ElicitationId {
        self.id
    }

    /// Returns the host that the URL leads to, without what stands before it to mislead; none if there is no host in it.
    #[must_use]
    pub fn host(&self) -> Option<&'a str> {
        let (_, rest) = self.url.split_once("://")?;
        // A browser takes a backslash for a slash.
        let authority = rest.split(['/', '?', '#', '\\']).next()?;
        let host = authority.rsplit('@').next()?;
        let host = match host.find(']') {
            Some(end) => host.get(..=end)?,
            None => host.split(':').next()?,
        };
        (!host.is_empty()).then_some(host)
    }

    /// Returns why the user should look twice before agreeing, in words; none if nothing is odd.
    #[must_use]
    pub fn warning(&self) -> Option<&'static str> {
        let Some(host) = self.host() else {
            return Some("the address names no host");
        };
        let is_punycode = |label: &str| label.to_ascii_lowercase().starts_with("xn--");
        let authority = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split(['/', '?', '#', '\\']).next().unwrap_or("");
        if authority.contains('@') {
            Some("the address has a user name before its host")
        } else if self.url.contains('\\') {
            Some("the address holds a backslash, which browsers take for a slash")
        } else if !host.is_ascii() || host.split('.').any(is_punycode) {
            Some("the host is spelled with letters that may look like others")
        } else if !self.url.starts_with("https://") {
            Some("the address is not https")
        } else if self
            .url
            .chars()
            .any(|char| char.is_control() || char.is_whitespace())
        {
            Some("the address holds characters that do not show")
        } else {
            None
        }
    }
}
