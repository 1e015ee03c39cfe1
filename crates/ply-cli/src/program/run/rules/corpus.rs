//! The commands by which the agent's judge is tested, through `ply run`: both must come to the same.

use std::path::Path;

use ply_client::v2::{PermissionOption, PermissionOptionKind};
use ply_coder::permission::{self, Decision, Mode, Permissions, Stores};
use ply_coder::tool::Access;

use super::super::arguments::PermitArgument;
use super::super::permit::{By, Permit, Verdict};
use super::super::subject::Subject;
use super::{Action, Rules};

#[path = "../../../../../ply-coder/tests/coder/corpus.rs"]
mod reader;

use self::reader::{COMMANDS_MIN, KINDS, commands, project, project_with_secrets, unescaped};

const LINES: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../ply-coder/tests/coder/permission_shell.txt"
));

fn run(command: &str) -> Subject {
    Subject {
        kind: "execute".to_owned(),
        title: "It".to_owned(),
        command: Some(command.to_owned()),
        ..Subject::default()
    }
}

/// What `--permit reads` says where nobody can be asked.
fn by_reads(project: &Path, line: &str) -> bool {
    let permit = Permit::new(Some(&PermitArgument::Reads), false, project.to_owned()).unwrap();
    let kinds = [
        PermissionOptionKind::AllowOnce,
        PermissionOptionKind::RejectOnce,
    ];
    let options = kinds.map(|kind| PermissionOption::new(format!("{kind:?}"), "x", kind));
    match permit.decide(&run(line), &options) {
        Verdict::Answer(Some(option), By::Policy) => option.kind == PermissionOptionKind::AllowOnce,
        _ => false,
    }
}

/// What the agent says in ask mode with these rules.
fn by_agent(project: &Path, rules: &[(Decision, String)], line: &str) -> Action {
    let rules = rules
        .iter()
        .map(|(decision, text)| permission::Rule::parse(*decision, text).unwrap());
    let root = project
        .canonicalize()
        .unwrap_or_else(|_| project.to_owned());
    let access = Access::Shell {
        command: line.to_owned(),
        cwd: root.clone(),
    };
    let permissions = Permissions::new(vec![root], rules.collect(), Stores::default());
    match permissions.decide(Mode::Ask, &[access]) {
        permission::Verdict::Allow => Action::Allow,
        permission::Verdict::Ask(_) => Action::Ask,
        permission::Verdict::Deny(_) => Action::Deny,
    }
}

/// What a policy of the same rules says, with reading allowed.
fn by_policy(project: &Path, rules: &[(Action, String)], line: &str) -> Action {
    let mut file = "default = \"ask\"\n[[rule]]\nkind = \"read\"\naction = \"allow\"\n".to_owned();
    for (action, command) in rules {
        let action = format!("{action:?}").to_lowercase();
        file.push_str(&format!(
            "[[rule]]\ncommand = '''{command}'''\naction = \"{action}\"\n"
        ));
    }
    Rules::parse(&file).unwrap().decide(&run(line), project)
}

#[test]
fn reads_allows_the_commands_that_only_read() {
    let (plain, secrets) = (project(), project_with_secrets());
    for kind in KINDS {
        let project = if kind == "secrets" { &secrets } else { &plain };
        for line in commands(kind) {
            let allowed = by_reads(project.path(), &line);
            assert_eq!(allowed, kind == "reads", "{kind}: {line:?}");
        }
    }
}

#[test]
fn h2_a_policy_and_the_agent_agree_on_every_command() {
    let project = project();
    let mut both_allow = 0;
    // The last kind is about another project.
    let (_, kinds) = KINDS.split_last().unwrap();
    for line in kinds.iter().flat_map(|kind| commands(kind)) {
        let first = line
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let star = format!("shell({first} *)");
        // What is no rule for the one is none for the other.
        if permission::Rule::parse(Decision::Allow, &star).is_err() {
            continue;
        }
        let agent = by_agent(project.path(), &[(Decision::Allow, star)], &line);
        let policy = by_policy(project.path(), &[(Action::Allow, first)], &line);
        assert_eq!(policy, agent, "{line:?}");
        both_allow += usize::from(agent == Action::Allow);
    }
    assert!(both_allow >= 2 * COMMANDS_MIN, "{both_allow}");
}

#[test]
fn h2_a_policy_allows_no_line_of_the_corpus_that_the_agent_asks_about() {
    let mut count = 0;
    for line in LINES.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.splitn(3, ":: ");
        let columns = (columns.next(), columns.next(), columns.next());
        let (Some(verdict), Some(rules), Some(command)) = columns else {
            continue;
        };
        if verdict.starts_with("full") || verdict.starts_with("plan") {
            continue;
        }
        let rules: Vec<&str> = rules.split(';').map(str::trim).collect();
        let allowed = |rule: &&&str| !rule.is_empty() && !rule.starts_with(['-', '?']);
        let rules: Vec<&str> = rules.iter().filter(allowed).copied().collect();
        // A policy's rules all mean what follows, too.
        let starred = rules.iter().map(|rule| rule.trim_end_matches('*').trim());
        let starred: Vec<String> = starred.map(str::to_owned).collect();
        let command = unescaped(command);
        let agents = starred.iter().map(|rule| {
            let text = format!("shell({rule} *)").replace("( *", "(*");
            (Decision::Allow, text)
        });
        let agents: Vec<(Decision, String)> = agents.collect();
        if starred.iter().any(String::is_empty) {
            continue;
        }
        let agent = by_agent(Path::new("/p"), &agents, &command);
        let policies = starred.into_iter().map(|rule| (Action::Allow, rule));
        let policy = by_policy(Path::new("/p"), &policies.collect::<Vec<_>>(), &command);
        assert_eq!(policy, agent, "{command:?} with {rules:?}");
        count += 1;
    }
    assert!(count > 300, "{count}");
}
