use super::*;
use crate::hooks::Event;
use crate::model::service::Api;
use crate::permission::Decision;

fn read(file: &str, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::read(Some(file), &env(variables), Places::default())
}

fn env(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
    move |name| {
        let found = variables.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    }
}

#[track_caller]
fn services(file: &str, variables: &[(&str, &str)]) -> Vec<Service> {
    Config::services(Some(file), &env(variables)).unwrap()
}

#[track_caller]
fn ids(file: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let services = services(file, variables);
    services
        .into_iter()
        .map(|service| service.facts.id)
        .collect()
}

/// Returns what is told about files that are wrong.
#[track_caller]
fn told(files: &[&str]) -> String {
    let told = files.iter().map(|file| match read(file, &[]) {
        Ok(_) => format!("accepted: {file}"),
        Err(error) => error.to_string(),
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn without_anything_there_are_defaults_and_no_models() {
    let config = Config::read(None, &|_| None, Places::default()).unwrap();
    assert!(config.models.is_empty());
    assert_eq!(config.mode, Mode::Ask);
    assert_eq!(config.turn_requests_max, TURN_REQUESTS_MAX);
    assert!(config.compact);
    assert!(!config.web_fetch);
    assert_eq!(config.ollama_url.as_deref(), Some("http://localhost:11434"));
}

#[test]
fn everything_in_a_file_is_read() {
    let file = r#"
        model = "local/coder"
        effort = "high"
        mode = "auto-edit"
        max_turn_requests = 50
        compact = false
        web_fetch = true
        instructions = "Be brief."

        [providers.local]
        api = "openai"
        base_url = "http://localhost:8080/v1"
        key = "sk-local"
        headers = { "X-Team" = "a" }

        [[models]]
        id = "local/coder"
        name = "Coder"
        window_tokens = 64_000
        output_tokens_max = 8000
        images = true

        [permissions]
        allow = ["shell(cargo test)"]
        deny = ["read(.env)"]

        [sandbox]
        network = true
        writable = ["/tmp/cache"]
    "#;
    let config = read(file, &[]).unwrap();
    assert_eq!(config.effort, Some(Effort::High));
    assert_eq!(config.mode, Mode::AutoEdit);
    assert_eq!(config.turn_requests_max, 50);
    assert!(!config.compact);
    assert!(config.web_fetch);
    assert_eq!(config.instructions.as_deref(), Some("Be brief."));
    let rules: Vec<_> = config
        .rules
        .iter()
        .map(|rule| (rule.decision, rule.to_string()))
        .collect();
    let expected = [
        (Decision::Allow, "shell(cargo test)".to_owned()),
        (Decision::Deny, "read(.env)".to_owned()),
    ];
    assert_eq!(rules, expected);
    assert!(config.sandbox.enabled);
    assert_eq!(config.sandbox.network, Some(true));
    assert_eq!(config.sandbox.required, None);
    assert_eq!(config.sandbox.writable, [PathBuf::from("/tmp/cache")]);
    let [model] = config.models.as_slice() else {
        panic!("{:?}", config.models);
    };
    assert_eq!(model.facts().name, "Coder");
    assert_eq!(model.facts().window_tokens, 64_000);
    assert!(model.facts().images);
    assert!(!format!("{config:?}").contains("sk-local"));
    let service = services(file, &[]).remove(0);
    assert_eq!(service.api, Api::OpenAi);
    assert_eq!(
        service.base_url.as_deref(),
        Some("http://localhost:8080/v1")
    );
    assert_eq!(service.key.unwrap().reveal(), "sk-local");
    assert_eq!(service.headers.len(), 1);
}

#[test]
fn keys_of_the_environment_bring_their_models() {
    assert_eq!(
        ids("", &[("GOOGLE_API_KEY", "k")]),
        ["gemini/gemini-3.8-flash", "gemini/gemini-3.1-pro-preview"]
    );
    let both = ids("", &[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]);
    assert_eq!(
        both,
        [
            "anthropic/claude-sonnet-5",
            "anthropic/claude-opus-5",
            "anthropic/claude-haiku-5-5",
            "openai/gpt-6-luna",
            "openai/gpt-5.6",
        ]
    );
    assert!(ids("", &[("OPENAI_API_KEY", " ")]).is_empty());
}

#[test]
fn the_variable_wins_over_the_file_and_comes_first() {
    let file = "model = \"openai/gpt-5.6\"\n[[models]]\nid = \"ollama/qwen3\"";
    let key = ("OPENAI_API_KEY", "k");
    assert_eq!(
        ids(file, &[key]),
        ["openai/gpt-5.6", "ollama/qwen3", "openai/gpt-6-luna"]
    );
    assert_eq!(
        ids(file, &[key, ("PLY_MODEL", "claude-opus-5")]),
        [
            "anthropic/claude-opus-5",
            "ollama/qwen3",
            "openai/gpt-6-luna",
            "openai/gpt-5.6"
        ]
    );
}

#[test]
fn a_model_without_a_key_says_which_to_set() {
    let hint = |file: &str| services(file, &[]).remove(0).key_hint;
    assert_eq!(
        hint("model = \"groq/openai/gpt-oss-120b\""),
        "set `GROQ_API_KEY`, or `key` in `[providers.groq]` of `config.toml`"
    );
    assert_eq!(
        hint("model = \"groq/x\"\n[providers.groq]\nkey_env = \"MY_KEY\""),
        "set `MY_KEY`, or `key` in `[providers.groq]` of `config.toml`"
    );
    assert_eq!(
        hint("model = \"groq/x\"\n[providers.groq]\nkey = \"k\""),
        "check `key` in `[providers.groq]` of `config.toml`"
    );
}

#[test]
fn keys_are_found_in_their_order() {
    let key = |file: &str, variables: &[(&str, &str)]| {
        let service = services(file, variables).remove(0);
        service.key.map(|key| key.reveal().to_owned())
    };
    let model = "model = \"openai/m\"\n[providers.openai]\n";
    let variables = [("OPENAI_API_KEY", "usual"), ("MINE", "mine")];
    assert_eq!(key(model, &variables).as_deref(), Some("usual"));
    let named = format!("{model}key_env = \"MINE\"");
    assert_eq!(key(&named, &variables).as_deref(), Some("mine"));
    let said = format!("{named}\nkey = \"said\"");
    assert_eq!(key(&said, &variables).as_deref(), Some("said"));
    // A variable that was named and is not there is no reason to take another.
    assert_eq!(key(&named, &[("OPENAI_API_KEY", "usual")]), None);
}

#[test]
fn addresses_of_the_environment_are_used() {
    let variables = [
        ("OPENAI_BASE_URL", "http://h/v1"),
        ("OPENAI_API_KEY", "k"),
        ("PLY_MODEL", "openai/local"),
    ];
    // What the usual models are is not known there.
    let [service] = services("", &variables).try_into().unwrap();
    assert_eq!(service.api, Api::OpenAi);
    assert_eq!(service.base_url.as_deref(), Some("http://h/v1"));
    assert!(!service.cache_keys);
    for (host, url) in [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box:8080", "http://box:8080"),
        ("https://box.example/", "https://box.example:443"),
        (":9", "http://127.0.0.1:9"),
    ] {
        let variables = [("OLLAMA_HOST", host)];
        assert_eq!(
            read("", &variables).unwrap().ollama_url.as_deref(),
            Some(url)
        );
        let service = services("model = \"ollama/qwen3\"", &variables).remove(0);
        assert_eq!(service.base_url.as_deref(), Some(url));
    }
}

#[test]
fn openai_is_spoken_to_in_its_newest_way() {
    let service = services("model = \"openai/gpt-5\"", &[]).remove(0);
    assert_eq!(service.api, Api::OpenAiResponses);
    assert!(service.cache_keys);
    let file = "model = \"openai/gpt-5\"\n[providers.openai]\napi = \"openai\"";
    assert_eq!(services(file, &[]).remove(0).api, Api::OpenAi);
}

#[test]
fn files_that_are_wrong_are_told_with_their_lines() {
    let told = told(&[
        "model = \n",
        "\n\nmodle = \"a/b\"",
        "zebra = 1",
        "effort = \"hihg\"",
        "mode = 3",
        "compact = \"yes\"",
        "max_turn_requests = 0",
        "max_turn_requests = -4",
        "model = \"qwen3\"",
        "model = \"antropic/claude\"",
        "model = \"/x\"",
        "\n[providers.mine]\napi = \"openai\"",
        "[providers.mine]\napi = \"opnai\"\nbase_url = \"http://h\"",
        "[providers]\nmine = 3",
        "[providers.openai]\nheaders = { a = 1 }",
        "[[models]]\nname = \"x\"",
        "[[models]]\nid = \"ollama/x\"\nwindow = 3",
        "[models]\nid = \"ollama/x\"",
        "[permissions]\nallow = \"all\"",
        "[sandbox]\nenable = true",
        "[sandbox]\nenabled = true\n[sandbox]\n",
    ]);
    insta::assert_snapshot!(told, @r#"
    `config.toml` cannot be read from line 1 on: string values must be quoted, expected literal string
    line 3 of `config.toml`: there is no key `modle`; did you mean `mode` or `model`?
    line 1 of `config.toml`: there is no key `zebra`; there are `model`, `max_turn_requests`, `effort`, `mode`, `compact`, `web_fetch`, `instructions`, `providers`, `models`, `permissions`, `sandbox`, `hooks`, `diagnostics`, `mcp_servers`, `agents`, `client`, `hub`
    line 1 of `config.toml`: `effort` must be one of `low`, `medium`, `high`; did you mean `high`?
    line 1 of `config.toml`: `mode` must be a text in quotes
    line 1 of `config.toml`: `compact` must be `true` or `false`
    line 1 of `config.toml`: `max_turn_requests` must be a whole number from 1 to 100000
    line 1 of `config.toml`: `max_turn_requests` must be a whole number from 1 to 100000
    line 1 of `config.toml`: write a model as `provider/name`, such as `ollama/qwen3`
    line 1 of `config.toml`: there is no provider `antropic`; did you mean `anthropic`?
    line 1 of `config.toml`: write a model as `provider/name`, such as `ollama/qwen3`
    line 2 of `config.toml`: `[providers.mine]` needs `api` and `base_url`: it is none of the providers that are known
    line 2 of `config.toml`: `api` must be one of `openai`, `openai-responses`, `anthropic`, `gemini`, `ollama`; did you mean `openai`?
    line 2 of `config.toml`: write `[providers.mine]` on a line of its own
    line 2 of `config.toml`: the header `a` must be a text in quotes
    line 1 of `config.toml`: a model needs an id: `id = "provider/name"`
    line 3 of `config.toml`: there is no key `window` in `[[models]]`; did you mean `window_tokens`?
    line 1 of `config.toml`: `models` must be tables, each under `[[models]]`
    line 2 of `config.toml`: `allow` must be a list of texts, `["…", "…"]`
    line 2 of `config.toml`: there is no key `enable` in `[sandbox]`; did you mean `enabled` or `readable`?
    `config.toml` cannot be read from line 3 on: duplicate key
    "#);
}

#[test]
fn a_variable_that_is_wrong_is_told_by_its_name() {
    let error = read("", &[("PLY_MODEL", "opnai/gpt-5")]).unwrap_err();
    insta::assert_snapshot!(error, @"the environment variable `PLY_MODEL`: there is no provider `opnai`; did you mean `openai`?");
}

#[test]
fn who_asks_for_the_offline_model_gets_it_whatever_keys_there_are() {
    let first = |file: &str, variables: &[(&str, &str)]| {
        let config = read(file, variables).unwrap();
        config.models[0].facts().id.clone()
    };
    let key = ("ANTHROPIC_API_KEY", "k");
    assert_eq!(first("", &[key]), "anthropic/claude-sonnet-5");
    assert_eq!(first("", &[key, ("PLY_MODEL", "offline")]), "offline");
    assert_eq!(first("model = \"offline\"", &[key]), "offline");
    let file = "model = \"openai/gpt-5.6\"";
    assert_eq!(first(file, &[key, ("PLY_MODEL", "offline")]), "offline");
    let file = "model = \"offline\"\n[[models]]\nid = \"offline\"";
    assert_eq!(first(file, &[("PLY_MODEL", "gpt-5.6")]), "openai/gpt-5.6");
    // The others can still be chosen.
    assert_eq!(ids("model = \"offline\"", &[key]).len(), 3);
}

#[test]
fn mistral_is_told_of_by_its_models_elsewhere() {
    let speaks = |id: &str| {
        let file = format!("model = \"{id}\"");
        services(&file, &[]).remove(0).speaks_after_results
    };
    assert!(speaks("mistral/devstral-medium-latest"));
    assert!(speaks("openrouter/mistralai/devstral-medium"));
    assert!(!speaks("openrouter/openai/gpt-5"));
}

#[test]
fn variables_with_keys_are_withheld_whatever_they_are_called() {
    let file = "[providers.local]\napi = \"openai\"\nbase_url = \"http://localhost:1/v1\"\n\
                key_env = \"LOCAL_LOGIN\"";
    let withheld = read(file, &[]).unwrap().mcp.withheld;
    for name in ["ANTHROPIC_API_KEY", "LOCAL_LOGIN"] {
        assert!(withheld.iter().any(|known| known == name), "{withheld:?}");
    }
}

#[test]
fn a_model_may_be_amended_without_its_provider() {
    let file = "[[models]]\nid = \"claude-mine\"\nname = \"Mine\"\nwindow_tokens = 1234";
    let services = services(file, &[]);
    assert_eq!(services[0].facts.id, "anthropic/claude-mine");
    assert_eq!(services[0].facts.name, "Mine");
    assert_eq!(services[0].facts.window_tokens, 1234);
}

#[test]
fn writable_directories_are_absolute_or_at_home() {
    let file = "[sandbox]\nwritable = [\"/srv\", \"~/cache\", \"~\"]";
    let config = read(file, &[("HOME", "/home/me")]).unwrap();
    let paths = ["/srv", "/home/me/cache", "/home/me"].map(PathBuf::from);
    assert_eq!(config.sandbox.writable, paths);
}

#[test]
fn the_sandbox_is_set_up_as_the_file_says() {
    let file = r#"
        [sandbox]
        required = true
        network = false
        hosts = ["crates.io", "*.npmjs.org", "localhost:5432"]
        hidden = ["~/clients"]
        readable = ["~/.npmrc"]
        max_processes = 100
        max_memory_mib = 1024
        max_file_mib = 1
        min_free_mib = 2
    "#;
    let sandbox = read(file, &[("HOME", "/home/me"), ("TMPDIR", "/scratch")])
        .unwrap()
        .sandbox;
    assert_eq!(
        (sandbox.required, sandbox.network),
        (Some(true), Some(false))
    );
    assert_eq!(sandbox.hosts.len(), 3);
    let is_hidden = |path: &str| sandbox.hidden.contains(&PathBuf::from(path));
    assert!(is_hidden("/home/me/clients") && is_hidden("/home/me/.ssh"));
    assert!(!is_hidden("/home/me/.npmrc"));
    assert_eq!(sandbox.bounds.processes, Some(100));
    assert_eq!(sandbox.bounds.memory, Some(1 << 30));
    assert_eq!(sandbox.bounds.file, Some(1 << 20));
    assert_eq!(sandbox.bounds.free, Some(2 << 20));
    assert_eq!(sandbox.readable, [PathBuf::from("/home/me/.npmrc")]);
    assert!(sandbox.temporary.contains(&PathBuf::from("/scratch")));
    let told = told(&[
        "[sandbox]\nhosts = [\n  \"https://crates.io\",\n]",
        "[sandbox]\nhidden = [\"secrets\"]",
        "[sandbox]\nmax_processes = 0",
    ]);
    insta::assert_snapshot!(told, @r"
    line 3 of `config.toml`: in `hosts`, `https://crates.io` must be a host such as `crates.io`, `*.example.org` or `localhost:8080`
    line 2 of `config.toml`: `secrets` in `hidden` must be an absolute path, or begin with `~/`
    line 2 of `config.toml`: `max_processes` must be a whole number from 1 to 4194304
    ");
}

#[test]
fn mistakes_inside_lists_and_addresses_are_told_with_their_line() {
    let provider = "[providers.x]\napi = \"openai\"\nbase_url = ";
    let told = told(&[
        "[sandbox]\nwritable = [\n  \"/srv\",\n  \"cache\",\n]",
        "[sandbox]\nwritable = [\"~/cache\"]",
        "[permissions]\nallow = [\n  \"shell(ls)\",\n  \"shel(ls)\",\n]",
        &format!("{provider}\"localhost:8000\""),
        &format!("{provider}\"ftp://host/\""),
        &format!("{provider}\"http://host/v1\"\nheaders = {{ \"x y\" = \"1\" }}"),
    ]);
    insta::assert_snapshot!(told, @r"
    line 4 of `config.toml`: `cache` in `writable` must be an absolute path, or begin with `~/`
    line 2 of `config.toml`: `~/cache` in `writable` must be an absolute path, or begin with `~/`
    line 4 of `config.toml`: the permission rule `shel(ls)`: there is no such kind of rule; take shell, read, write, delete, fetch, mcp or mcp_server
    line 3 of `config.toml`: `base_url` must be an http or https URL, such as `http://localhost:8000/v1`
    line 3 of `config.toml`: `base_url` must be an http or https URL, such as `http://localhost:8000/v1`
    line 4 of `config.toml`: `x y` is no header: a name has letters, digits and `-`, and a value is one line
    ");
}

/// Returns the servers that are asked for their models.
#[track_caller]
fn asked(file: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let lists = read(file, variables).unwrap().lists;
    lists
        .iter()
        .map(|list| list.provider().to_owned())
        .collect()
}

#[test]
fn a_server_on_this_machine_is_asked_only_if_somebody_says_so() {
    assert!(asked("", &[]).is_empty());
    assert!(asked("", &[("ANTHROPIC_API_KEY", "k")]).is_empty());
    assert_eq!(asked("", &[("OLLAMA_HOST", "127.0.0.1")]), ["ollama"]);
    assert_eq!(asked("", &[("PLY_MODEL", "ollama/qwen3")]), ["ollama"]);
    assert_eq!(asked("[[models]]\nid = \"ollama/qwen3\"", &[]), ["ollama"]);
    assert_eq!(asked("[providers.ollama]", &[]), ["ollama"]);
}

#[test]
fn a_key_with_an_address_selects_its_provider() {
    let gateway = ("ANTHROPIC_BASE_URL", "https://gateway.example");
    let service = services("", &[gateway, ("ANTHROPIC_API_KEY", "k")]).remove(0);
    assert_eq!(service.facts.id, "anthropic/claude-sonnet-5");
    assert_eq!(service.base_url.as_deref(), Some("https://gateway.example"));
    assert_eq!(service.key.unwrap().reveal(), "k");
    assert!(service.own_address && !service.bearer);
    let gateway = ("OPENAI_BASE_URL", "https://gateway.example/v1");
    let key = ("OPENAI_API_KEY", "k");
    let service = services("", &[gateway, key]).remove(0);
    assert_eq!(service.facts.id, "openai/gpt-6-luna");
    assert_eq!(service.api, Api::OpenAi);
    // The server may know better, and is asked.
    let lists = read("", &[gateway, key]).unwrap().lists;
    assert_eq!(lists[0].assumed, ["openai/gpt-6-luna", "openai/gpt-5.6"]);
    let model = ("OPENAI_MODEL", "qwen3-coder");
    assert_eq!(ids("", &[gateway, key, model]), ["openai/qwen3-coder"]);
    assert_eq!(asked("", &[gateway, key, model]), ["openai"]);
}

#[test]
fn an_address_alone_is_enough_where_no_key_is_wanted() {
    let variables = [("OPENAI_API_BASE", "http://localhost:8000/v1 ")];
    let service = services("", &variables).remove(0);
    assert_eq!(
        service.base_url.as_deref(),
        Some("http://localhost:8000/v1")
    );
    assert!(service.key.is_none());
    for (address, url) in [
        ("https://gateway.example", "https://gateway.example/v1beta"),
        (
            "https://gateway.example/v1beta/",
            "https://gateway.example/v1beta",
        ),
    ] {
        let service = services("", &[("GOOGLE_GEMINI_BASE_URL", address)]).remove(0);
        assert_eq!(service.base_url.as_deref(), Some(url));
    }
}

#[test]
fn a_token_for_a_gateway_is_sent_as_one() {
    let token = ("ANTHROPIC_AUTH_TOKEN", "t");
    let service = services("", &[token]).remove(0);
    assert!(service.bearer);
    assert_eq!(service.key.unwrap().reveal(), "t");
    let service = services("", &[token, ("ANTHROPIC_API_KEY", "k")]).remove(0);
    assert!(!service.bearer);
    assert_eq!(service.key.unwrap().reveal(), "k");
    let withheld = read("", &[]).unwrap().mcp.withheld;
    assert!(withheld.iter().any(|name| name == "ANTHROPIC_AUTH_TOKEN"));
}

#[test]
fn a_provider_without_a_model_is_asked_for_its_models() {
    let file = "[providers.local]\napi = \"openai\"\nbase_url = \"http://localhost:1/v1\"";
    assert_eq!(asked(file, &[]), ["local"]);
    assert!(ids(file, &[]).is_empty());
}

#[test]
fn a_key_that_is_named_and_not_there_is_a_problem() {
    let file = "[providers.openai]\nkey_env = \"MY_KEY\"";
    let config = read(file, &[]).unwrap();
    assert_eq!(
        config.problems,
        ["`[providers.openai]` takes its key from `MY_KEY`, which is not set."]
    );
    assert!(read(file, &[("MY_KEY", "k")]).unwrap().problems.is_empty());
}

#[test]
fn hooks_are_read_in_their_order() {
    let file = "[[hooks]]\nevent = \"before-tool\"\ntool = \"shell\"\ncommand = \"check\"\n\
                [[hooks]]\nevent = \"turn-end\"\ncommand = \"make test\"\ntimeout_seconds = 600\n";
    let hooks = read(file, &[]).unwrap().hooks;
    let read: Vec<_> = hooks
        .iter()
        .map(|hook| {
            (
                hook.event.name(),
                hook.command.as_str(),
                hook.time.as_secs(),
            )
        })
        .collect();
    assert_eq!(
        read,
        [("before-tool", "check", 60), ("turn-end", "make test", 600)]
    );
    let shell = hooks.first().unwrap();
    assert!(shell.is_for(Event::BeforeTool, Some("shell")));
    assert!(!shell.is_for(Event::BeforeTool, Some("grep")));
}

#[test]
fn a_hook_that_cannot_work_is_told_with_its_line() {
    let told = told(&[
        "\n[[hooks]]\ncommand = \"x\"",
        "[[hooks]]\nevent = \"turn-end\"",
        "[[hooks]]\nevent = \"before\"\ncommand = \"x\"",
        "[[hooks]]\nevent = \"turn-end\"\ncommand = \"x\"\ntool = \"shell\"",
        "[[hooks]]\nevent = \"after-tool\"\ncommand = \"x\"\ntool = \"[\"",
        "[[hooks]]\nevent = \"turn-end\"\ncommand = \"x\"\ntimeout_seconds = 601",
        "[[hooks]]\nevent = \"turn-end\"\ncommand = \"x\"\ntimeout = 60",
        "[hooks]\nevent = \"turn-end\"",
    ]);
    insta::assert_snapshot!(told, @r#"
    line 2 of `config.toml`: a hook needs an event: `event = "before-tool"`, `"after-tool"` or `"turn-end"`
    line 1 of `config.toml`: a hook needs a command: `command = "…"`
    line 2 of `config.toml`: `event` must be one of `before-tool`, `after-tool`, `turn-end`; did you mean `before-tool`?
    line 4 of `config.toml`: a `turn-end` hook is about no tool; remove `tool`
    line 4 of `config.toml`: `[` is not a valid pattern for tool names, such as `shell` or `edit_*`: unclosed character class; missing ']'
    line 4 of `config.toml`: `timeout_seconds` must be a whole number from 1 to 600
    line 4 of `config.toml`: there is no key `timeout` in `[[hooks]]`; did you mean `timeout_seconds`?
    line 1 of `config.toml`: `hooks` must be tables, each under `[[hooks]]`
    "#);
}

#[test]
fn mcp_servers_are_read_in_the_order_of_the_file() {
    let file = r#"
        [mcp_servers.web]
        url = "https://example.org/mcp"
        headers = { Authorization = "Bearer ${TOKEN}" }
        startup_timeout_seconds = 5
        tool_timeout_seconds = 60

        [mcp_servers.files]
        command = "npx"
        args = ["-y", "files"]
        [mcp_servers.files.env]
        A = "1"

        [mcp_servers.off]
        enabled = false
    "#;
    let servers = read(file, &[]).unwrap().mcp_servers;
    let names: Vec<_> = servers.iter().map(|server| server.name.as_str()).collect();
    assert_eq!(names, ["web", "files", "off"]);
    assert_eq!(servers[0].connect, Some(std::time::Duration::from_secs(5)));
    assert_eq!(servers[0].silence, Some(std::time::Duration::from_secs(60)));
    assert!(
        matches!(&servers[1].way, Some(mcp::Way::Command { args, env, .. }) if args.len() == 2 && env.len() == 1)
    );
    assert!(!servers[2].enabled && servers[2].way.is_none());
    assert!(!format!("{servers:?}").contains("Bearer"));
}

#[test]
fn mcp_servers_that_make_no_sense_are_told_with_their_line() {
    insta::assert_snapshot!(told(&[
        "\n[mcp_servers.a]\n",
        "[mcp_servers.a]\ncommand = \"x\"\nurl = \"https://y\"\n",
        "[mcp_servers.a]\ncommand = \"x\"\nheaders = { A = \"1\" }\n",
        "[mcp_servers.a]\nurl = \"https://y\"\nargs = [\"1\"]\n",
        "[mcp_servers.a]\nurl = \"nonsense\"\n",
        "[mcp_servers.a]\ncommand = \"x\"\nenv = { A = 1 }\n",
        "[mcp_servers.a]\ncomand = \"x\"\nenabled = false\n",
        "[mcp_servers.a]\ncommand = \"x\"\ntool_timeout_seconds = 0\n",
        "[mcp_servers]\na = 1\n",
    ]), @r"
    line 2 of `config.toml`: `[mcp_servers.a]` needs a `command` or a `url`
    line 3 of `config.toml`: `[mcp_servers.a]` has a `command` and a `url`; keep one of them
    line 1 of `config.toml`: `[mcp_servers.a]` has a `command`, which takes no `headers`; use `env`
    line 2 of `config.toml`: `[mcp_servers.a]` has a `url`, which takes no `args` and no `env`
    line 2 of `config.toml`: `url` must be an http or https URL, such as `https://example.org/mcp`
    line 3 of `config.toml`: the variable `A` in `env` must have a name without `=` and be a text in quotes
    line 2 of `config.toml`: there is no key `comand` in `[mcp_servers.a]`; did you mean `command`?
    line 3 of `config.toml`: `tool_timeout_seconds` must be a whole number from 1 to 86400
    line 2 of `config.toml`: write `[mcp_servers.a]` on a line of its own
    ");
}

#[test]
fn prices_are_read_from_both_files_and_the_configuration_comes_first() {
    let file = "[[models]]\nid = \"anthropic/claude-sonnet-5\"\nprice = { input = 3, output = 15.5 }\n\
                [providers.openai]\nbase_url = \"http://localhost:1/v1\"\n";
    let none = |_: &str| None;
    let mut config = Config::read(Some(file), &none, Places::default()).unwrap();
    let prices = "[\"claude-sonnet-5\"]\ninput = 1\noutput = 1\n\n[\"local/x\"]\ninput = 0\noutput = 0.5\ncached = 0.1\n";
    config.add_prices(prices).unwrap();
    let price = |id: &str| {
        let price = config.prices.of(id);
        price.map(|price| (price.input, price.output, price.cached))
    };
    let own = (3_000_000, 15_500_000, 3_000_000);
    assert_eq!(price("anthropic/claude-sonnet-5"), Some(own));
    assert_eq!(price("local/x"), Some((0, 500_000, 100_000)));
    // It is somewhere else.
    assert_eq!(price("openai/gpt-5"), None);
}

#[test]
fn what_is_wrong_with_prices_is_said_with_its_line() {
    let mut config = Config::new(Vec::new(), Places::default());
    let mut check = |text: &str, expected: &str| {
        let error = config.add_prices(text).unwrap_err().to_string();
        assert_eq!(error, expected, "{text}");
    };
    check(
        "\n[\"a/b\"]\ninput = 1\n",
        "line 2 of `prices.toml`: a price needs `input` and `output`, in US dollars for a million tokens",
    );
    check(
        "[\"a/b\"]\ninput = -1\noutput = 1\n",
        "line 2 of `prices.toml`: `input` must be US dollars for a million tokens, from 0 to 100000",
    );
    check(
        "[\"a/b\"]\ninput = 1\noutput = 1\ncache = 1\n",
        "line 4 of `prices.toml`: there is no key `cache` in `[\"a/b\"]`; did you mean `cached` or `cache_write`?",
    );
    check(
        "price = 1\n",
        "line 1 of `prices.toml`: write `[\"price\"]` on a line of its own, and its prices below",
    );
}

#[test]
fn every_example_of_the_document_is_accepted() {
    let document = include_str!("../../../../docs/AGENT.md");
    let blocks = document.split("```toml\n").skip(1);
    let blocks: Vec<_> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 6, "{blocks:?}");
    let variables = [("ANTHROPIC_API_KEY", "k"), ("LOCAL_KEY", "k")];
    for block in blocks {
        let problem = match block.starts_with("[\"") {
            true => prices::parse(block).err(),
            // There is no home here.
            false => read(&block.replace("~/", "/home/u/"), &variables).err(),
        };
        assert!(problem.is_none(), "{block}\n{problem:?}");
    }
}
