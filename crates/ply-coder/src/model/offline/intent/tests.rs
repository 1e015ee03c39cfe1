use super::*;

#[track_caller]
fn check(expected: &Intent, prompts: &[&str]) {
    for prompt in prompts {
        assert_eq!(&read(prompt), expected, "{prompt}");
    }
}

#[test]
fn questions_about_the_whole_are_told_from_those_about_a_part() {
    check(
        &Intent::Project(Aspect::Overview),
        &[
            "explain this repository",
            "Explain this repository.",
            "What is this?",
            "what does this project do?",
            "can you give me an overview?",
            "summarize the codebase please",
            "I'm new here",
            "tell me about this code",
            "explain",
        ],
    );
    check(
        &Intent::Project(Aspect::Structure),
        &[
            "how is the code organized?",
            "what is the structure of this project?",
            "list all files",
            "show me the directory tree",
            "explain the architecture",
        ],
    );
    check(
        &Intent::Project(Aspect::Size),
        &[
            "what language is this written in?",
            "how big is this project?",
            "how many lines of code are there?",
            "which files are the largest?",
        ],
    );
    check(
        &Intent::Project(Aspect::Dependencies),
        &[
            "what dependencies does it have?",
            "which libraries does this use?",
        ],
    );
    check(
        &Intent::Project(Aspect::Commands),
        &[
            "how do I build this?",
            "how do I run the tests?",
            "how can I install it?",
        ],
    );
    check(
        &Intent::Project(Aspect::Entries),
        &[
            "where do I start?",
            "where is the main function?",
            "what are the entry points?",
        ],
    );
    check(
        &Intent::Project(Aspect::License),
        &["what license is this under?", "how is this licensed?"],
    );
    check(
        &Intent::Project(Aspect::Features),
        &["what features does it have?"],
    );
    check(
        &Intent::Project(Aspect::Facts),
        &["which version is this?", "who wrote this?"],
    );
    check(
        &Intent::Project(Aspect::Tests),
        &["are there any tests?", "where are the tests?"],
    );
    check(
        &Intent::Project(Aspect::Usage),
        &[
            "how do I use this library?",
            "show me an example",
            "are there examples?",
        ],
    );
}

#[test]
fn questions_name_files_and_things() {
    let path = |name: &str| Intent::Path(name.to_owned());
    check(
        &path("src/lib.rs"),
        &[
            "explain src/lib.rs",
            "what does src/lib.rs do?",
            "what is in `src/lib.rs`?",
            "src/lib.rs",
        ],
    );
    let definition = |name: &str| Intent::Definition(name.to_owned());
    check(
        &definition("GlobSet"),
        &[
            "where is GlobSet defined?",
            "where's GlobSet?",
            "what is GlobSet?",
            "explain the GlobSet struct",
            "find the definition of `GlobSet`",
            "where is the struct GlobSet",
        ],
    );
    check(
        &definition("parse"),
        &["where is parse defined?", "where is the parse function?"],
    );
    check(&definition("new"), &["where is GlobSet::new defined?"]);
    check(
        &Intent::Uses("is_match".to_owned()),
        &[
            "where is is_match used?",
            "who calls is_match?",
            "find usages of `is_match`",
        ],
    );
    check(&Intent::Todos, &["are there any TODOs?", "find todos"]);
}

#[test]
fn what_is_to_be_run_is_told_from_how_to_run_it() {
    check(
        &Intent::Check(Check::Tests),
        &[
            "run the tests",
            "do the tests pass?",
            "please run all tests",
            "test this",
            "are the tests green?",
        ],
    );
    check(
        &Intent::Check(Check::Build),
        &["build it", "does it compile?", "build this project"],
    );
    check(
        &Intent::Changes(Changes::Recent),
        &[
            "what changed?",
            "what has changed recently?",
            "show me the last commits",
            "git status",
            "which branch is this?",
        ],
    );
    check(&Intent::Changes(Changes::Diff), &["show me the diff"]);
}

#[test]
fn what_takes_a_language_model_is_known() {
    check(
        &Intent::Reasoning,
        &[
            "fix the failing tests",
            "add a test for the parser",
            "why does this fail?",
            "write a function that adds two numbers",
            "refactor src/lib.rs",
            "could you please review my changes?",
            "find the bug",
            "is there a better way?",
            "delete the old code",
            "rename foo to bar everywhere",
        ],
    );
}

#[test]
fn the_rest_is_help() {
    check(
        &Intent::About,
        &[
            "",
            "hello",
            "help",
            "who are you?",
            "what can you do?",
            "thanks",
        ],
    );
    check(
        &Intent::Unknown,
        &[
            "what is love?",
            "read the code and tell me",
            "run through it",
            "lorem ipsum dolor",
        ],
    );
}
