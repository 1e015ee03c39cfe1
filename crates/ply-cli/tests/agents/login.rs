//! Logins from the shell.

use std::fs;

use terminal_tests::{Ended, Launch, Screen as _, Terminal};

use crate::place::Place;

/// An agent that can be logged in to in a terminal, or by itself.
const AGENT: &str = r#"#!/bin/sh
if [ "$1" = --login ]; then
    printf 'name? '
    read name
    echo "$name $REALM" > "$HOME/login"
    exit 0
fi
read line
case "$line" in *'"terminal":'*) ;; *) exit 3 ;; esac
echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[METHODS]}}' | sed "s/\"id\":0/\"id\":$(echo "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')/"
read line
"#;
const TERMINAL: &str = r#"{"type":"terminal","id":"shell","name":"In the shell","args":["--login"],"env":{"REALM":"tea"}}"#;
const OWN: &str = r#"{"id":"own","name":"By itself"}"#;

fn place(methods: &str) -> Place {
    let place = Place::new();
    let agent = place.path().join("bin/keeper");
    place.program(&agent, &AGENT.replace("METHODS", methods));
    let config = place.path().join(".config/ply");
    fs::create_dir_all(&config).unwrap();
    let text = format!("[agents.keeper]\ncommand = \"{}\"\n", agent.display());
    fs::write(config.join("config.toml"), text).unwrap();
    place
}

#[test]
fn a_login_in_a_terminal_is_the_agents_own_program() {
    let place = place(TERMINAL);
    let command = place.command(&["agents", "login", "keeper"]);
    let terminal = Terminal::spawn(&Launch::from(&command).size(80, 24)).unwrap();
    terminal.wait_for_text("name?");
    terminal.type_text("mia\n");
    terminal.wait_for_text("logged in to keeper");
    assert!(matches!(terminal.ended(), Ended::Code(0)));
    let login = fs::read_to_string(place.path().join("login")).unwrap();
    assert_eq!(login, "mia tea\n");
}

#[test]
fn several_methods_have_to_be_chosen_from_and_none_is_needed_without_any() {
    let place = place(&format!("{TERMINAL},{OWN}"));
    let told = place.fails(&["agents", "login", "keeper"]);
    assert!(
        told.contains("--method shell") && told.contains("--method own"),
        "{told}"
    );
    let told = place.fails(&["agents", "login", "keeper", "--method", "x"]);
    assert!(told.contains("shell, own"), "{told}");
    let told = place.fails(&["agents", "login", "keeper", "--method", "shell"]);
    assert!(told.contains("needs a terminal"), "{told}");
    let free = self::place("");
    assert!(
        free.ply(&["agents", "login", "keeper"])
            .told
            .contains("needs no login")
    );
}
