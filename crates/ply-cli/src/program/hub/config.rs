//! The part of `config.toml` that is about the hub.

use serde::Deserialize;

use crate::program::{Error, roster};

#[derive(Debug, Default, Deserialize)]
struct File {
    #[serde(default)]
    hub: Hub,
}

/// `[hub]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hub {
    /// The command that is told of questions nobody sees.
    #[serde(default)]
    notify: Vec<String>,
}

/// Returns the command that is to be told of questions that wait; no words if there is none.
pub(super) fn notify() -> Result<Vec<String>, Error> {
    let Some((path, text)) = roster::config_text(None)? else {
        return Ok(Vec::new());
    };
    parse(&text).map_err(|what| Error::Config { path, what })
}

fn parse(text: &str) -> Result<Vec<String>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    if file.hub.notify.first().is_some_and(String::is_empty) {
        return Err(
            "`notify` in `[hub]` needs a command, such as `[\"notify-send\", \"Ply\"]`".to_owned(),
        );
    }
    Ok(file.hub.notify)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_a_list_of_words() {
        let two = "mode = \"ask\"\n[hub]\nnotify = [\"say\", \"it\"]\n";
        assert_eq!(parse(two).unwrap(), ["say", "it"]);
        assert_eq!(parse("mode = \"ask\"").unwrap(), [""; 0]);
        for wrong in [
            "[hub]\nnotify = \"say it\"",
            "[hub]\nnotify = [\"\"]",
            "[hub]\nnotfy = [\"say\"]",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
