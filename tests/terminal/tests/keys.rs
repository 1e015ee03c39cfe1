//! What is typed arrives as a terminal sends it.

use terminal_tests::{Ended, Key, Keyboard, Launch, Screen as _, Shot, Terminal, on_every_screen};

/// A shell that shows every byte it gets, after it has switched something on.
fn bytes(switch_on: &str) -> Launch {
    let script = format!("stty raw -echo; printf '{switch_on}ready:'; exec cat -v");
    Launch::new("sh").args(["-c", &script])
}

#[test]
fn keys_arrive_as_their_bytes_also_inside_tmux() {
    on_every_screen(
        || bytes(""),
        |screen| {
            screen.wait_for_text("ready");
            for (key, shown) in [
                (Key::Char('x'), "x"),
                (Key::Ctrl('g'), "^G"),
                (Key::Ctrl('b'), "^B"),
                (Key::Alt('z'), "^[z"),
                (Key::Enter, "^M"),
                (Key::Tab, "^I"),
                (Key::BackTab, "^[[Z"),
                (Key::Backspace, "^?"),
                (Key::Delete, "^[[3~"),
                (Key::Up, "^[[A"),
                (Key::PageDown, "^[[6~"),
                (Key::F(1), "^[OP"),
                (Key::F(5), "^[[15~"),
            ] {
                let before = screen.shot().row(0);
                screen.press(key);
                // A tab is shown as the blanks it stands for.
                let wanted = match key {
                    Key::Tab => before.clone(),
                    _ => format!("{}{shown}", before.trim_end()),
                };
                screen.press(Key::Char('|'));
                screen.wait_for(
                    &|shot| {
                        let row = shot.row(0);
                        row.starts_with(&wanted) && row.ends_with('|') && row != before
                    },
                    &format!("{key:?} as {wanted:?}"),
                );
            }
            screen.press(Key::Esc);
            screen.wait_for(&|shot| shot.row(0).ends_with("|^["), "Esc alone");
        },
    );
}

#[test]
fn text_of_any_language_is_typed_as_it_is() {
    on_every_screen(
        || Launch::new("sh").args(["-c", "stty -echo; read line; echo \"<$line>\""]),
        |screen| {
            screen.type_text("Grüße, 世界 👋");
            screen.press(Key::Enter);
            screen.wait_for_text("<Grüße, 世界 👋>");
            assert_eq!(screen.ended(), Ended::Code(0));
        },
    );
}

#[test]
fn pasted_text_has_brackets_once_the_program_asks_for_them() {
    let plain = Terminal::spawn(&bytes("")).unwrap();
    plain.wait_for_text("ready");
    plain.paste("a\nb");
    plain.wait_for_text("ready:a^Mb");
    on_every_screen(
        || bytes("\\033[?2004h"),
        |screen| {
            screen.wait_for_text("ready");
            screen.wait_for(&Shot::is_paste_bracketed, "the brackets");
            screen.paste("a\nb");
            screen.wait_for_text("^[[200~a^Mb^[[201~");
        },
    );
}

#[test]
fn arrows_follow_the_cursor_mode() {
    on_every_screen(
        || bytes("\\033[?1h"),
        |screen| {
            screen.wait_for_text("ready");
            screen.press(Key::Left);
            screen.wait_for_text("^[OD");
        },
    );
}

#[test]
fn the_kitty_keyboard_is_spoken_from_when_it_is_asked_for_until_it_is_given_back() {
    let script = "stty raw -echo; printf 'ready '; head -c 1 | cat -v; printf '\\033[>1u on '; \
        head -c 12 | cat -v; printf '\\033[<u off '; exec cat -v";
    let launch = Launch::new("sh").args(["-c", script]);
    let terminal = Terminal::spawn(&launch.keyboard(Keyboard::Kitty)).unwrap();
    terminal.wait_for_text("ready");
    terminal.press(Key::Esc);
    terminal.wait_for_text("ready ^[ on");
    assert_eq!(terminal.left_on(), ["the kitty keyboard", "raw mode"]);
    terminal.press(Key::ShiftEnter);
    terminal.press(Key::Esc);
    terminal.wait_for_text("on ^[[13;2u^[[27u off");
    terminal.press(Key::Ctrl('c'));
    terminal.wait_for_text("off ^C");
}

#[test]
fn a_paste_that_nobody_reads_holds_up_nobody() {
    let script = "stty raw -echo; printf 'ready'; sleep 1000";
    let terminal = Terminal::spawn(&Launch::new("sh").args(["-c", script])).unwrap();
    terminal.wait_for_text("ready");
    terminal.paste(&"x".repeat(1 << 20));
    assert_eq!(terminal.shot().text(), "ready");
}

#[test]
fn a_long_paste_arrives_whole() {
    let script = "stty raw -echo; printf 'ready '; head -c 1000000 | wc -c";
    let terminal = Terminal::spawn(&Launch::new("sh").args(["-c", script])).unwrap();
    terminal.wait_for_text("ready");
    terminal.paste(&"x".repeat(1_000_000));
    terminal.wait_for_text("1000000");
    assert_eq!(terminal.ended(), Ended::Code(0));
}
