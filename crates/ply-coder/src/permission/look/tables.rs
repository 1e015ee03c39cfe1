//! Programs that read, print and do nothing else, and their options.

use super::Reach;
use super::options::{Options, Parsed};

/// A program that only reads.
pub(super) struct Reader {
    pub(super) programs: &'static [&'static str],
    pub(super) options: Options,
    pub(super) operands: Operands,
    /// Whether it reads the working directory if no place is named.
    pub(super) here: bool,
    /// Options by which it reads everything below a directory.
    deep: &'static [&'static str],
    /// Options without which it does more than read.
    pub(super) only_with: &'static [&'static str],
}

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    /// Places, all of them.
    Places,
    /// So many places; a further one would be written.
    Most(usize),
    /// A pattern or a program first, unless an option gives it; then places.
    Pattern,
    /// Text.
    Text,
    /// Text that begins with `+`.
    Formats,
    /// There are none.
    None,
}

use Operands::{Formats, Most, None as Nothing, Pattern, Places, Text};

const fn reader(
    programs: &'static [&'static str],
    operands: Operands,
    letters: &'static str,
    long: &'static [&'static [&'static str]],
) -> Reader {
    Reader {
        programs,
        options: Options {
            letters,
            long,
            digits: false,
        },
        operands,
        here: false,
        deep: &[],
        only_with: &[],
    }
}

impl Reader {
    const fn with_digits(mut self) -> Self {
        self.options.digits = true;
        self
    }

    const fn of_here(mut self) -> Self {
        self.here = true;
        self
    }

    const fn deep_by(mut self, options: &'static [&'static str]) -> Self {
        self.deep = options;
        self
    }

    const fn only_with(mut self, options: &'static [&'static str]) -> Self {
        self.only_with = options;
        self
    }

    /// Returns how much it reads of a directory.
    pub(super) fn reach(&self, parsed: &Parsed<'_>) -> Reach {
        // Two directories are compared file by file, also where links lead.
        if self.programs.contains(&"diff") {
            return Reach::Followed;
        }
        if self.programs.contains(&"rg") {
            return match parsed.has(&["files", "type-list"]) {
                true => Reach::Names,
                // A glob brings back what is hidden or ignored.
                false if parsed.has(ALL_OF_RG) => Reach::All,
                false => Reach::Shown,
            };
        }
        match parsed.has(self.deep) {
            true => Reach::All,
            false => Reach::Names,
        }
    }
}

/// Options of `rg` by which it reads hidden or ignored files.
const ALL_OF_RG: &[&str] = &[
    "u",
    "unrestricted",
    "hidden",
    "no-ignore",
    "no-ignore-vcs",
    "no-ignore-dot",
    "no-ignore-parent",
    "g",
    "glob",
    "iglob",
];

#[rustfmt::skip]
const GREP: &[&str] = &[
    "ignore-case", "no-ignore-case", "line-number", "count", "files-with-matches", "files-without-match",
    "invert-match", "word-regexp", "line-regexp", "extended-regexp", "fixed-strings", "basic-regexp", "perl-regexp",
    "only-matching", "quiet", "silent", "no-messages", "with-filename", "no-filename", "byte-offset", "text",
    "null", "null-data", "initial-tab", "line-buffered", "color?", "colour?", "regexp=", "file@", "max-count:",
    "after-context:", "before-context:", "context:", "recursive", "include:", "exclude:", "exclude-dir:", "label:",
    "binary-files:",
];

#[rustfmt::skip]
const RG: &[&str] = &[
    "ignore-case", "smart-case", "case-sensitive", "line-number", "no-line-number", "count", "count-matches",
    "files-with-matches", "files-without-match", "files", "invert-match", "word-regexp", "line-regexp",
    "fixed-strings", "only-matching", "quiet", "no-messages", "with-filename", "no-filename", "byte-offset", "text",
    "null", "null-data", "multiline", "multiline-dotall", "pcre2", "no-pcre2", "column", "no-column", "heading",
    "no-heading", "hidden", "no-hidden", "no-ignore", "no-ignore-vcs", "no-ignore-dot", "no-ignore-parent",
    "unrestricted", "trim", "vimgrep", "json", "stats", "pretty", "color:", "colors:", "regexp=", "file@", "max-count:",
    "after-context:", "before-context:", "context:", "context-separator:", "glob:", "iglob:", "type:", "type-not:",
    "type-list", "max-depth:", "max-filesize:", "max-columns:", "max-columns-preview", "sort:", "sortr:", "threads:",
    "replace:", "encoding:", "engine:", "crlf", "one-file-system", "passthru", "no-config", "no-follow", "no-pre",
];

#[rustfmt::skip]
const LS: &[&str] = &[
    "all", "almost-all", "author", "escape", "ignore-backups", "classify?", "color?", "directory", "dired",
    "file-type", "format:", "full-time", "group-directories-first", "human-readable", "si", "hide:", "hyperlink?",
    "indicator-style:", "inode", "ignore:", "kibibytes", "literal", "numeric-uid-gid", "no-group", "hide-control-chars",
    "quote-name", "quoting-style:", "recursive", "reverse", "size", "sort:", "time:", "time-style:", "tabsize:",
    "width:", "zero",
];

#[rustfmt::skip]
const DIFF: &[&str] = &[
    "unified?", "context?", "brief", "report-identical-files", "side-by-side", "width:", "left-column",
    "suppress-common-lines", "show-c-function", "label:", "expand-tabs", "initial-tab", "recursive", "new-file",
    "unidirectional-new-file", "ignore-file-name-case", "exclude:", "ignore-case", "ignore-tab-expansion",
    "ignore-trailing-space", "ignore-space-change", "ignore-all-space", "ignore-blank-lines", "text",
    "strip-trailing-cr", "minimal", "speed-large-files", "color?", "normal", "ed", "rcs", "no-dereference",
];

/// Programs that read. Left out on purpose: options that write (`sort -o`), run programs (`rg --pre`,
/// `sort --compress-program`, `diff -l`), follow links (`grep -R`, `rg -L`, `du -L`) or read the names of
/// further files from one (`wc --files0-from`, `sha256sum -c`).
#[rustfmt::skip]
pub(super) const READERS: &[Reader] = &[
    reader(&["cat", "gcat"], Places, "AbeEnstTuv", &[&["show-all", "number-nonblank", "show-ends", "number",
        "squeeze-blank", "show-tabs", "show-nonprinting"]]),
    reader(&["tac"], Places, "brs:", &[&["before", "regex", "separator:"]]),
    reader(&["rev"], Places, "", &[]),
    reader(&["nl"], Places, "b:d:f:h:i:l:n:ps:v:w:", &[&["body-numbering:", "number-format:", "number-width:",
        "number-separator:", "starting-line-number:"]]),
    reader(&["head"], Places, "c:n:qvz", &[&["bytes:", "lines:", "quiet", "silent", "verbose", "zero-terminated"]])
        .with_digits(),
    // Without `-f`, which does not end.
    reader(&["tail"], Places, "c:n:qvz", &[&["bytes:", "lines:", "quiet", "silent", "verbose", "zero-terminated"]])
        .with_digits(),
    reader(&["wc"], Places, "clLmw", &[&["bytes", "chars", "lines", "max-line-length", "words", "total:"]]),
    reader(&["grep", "egrep", "fgrep", "ggrep"], Pattern, "inclLvwxEFGPoqshHbaZzTe=f@m:A:B:C:rU", &[GREP])
        .with_digits().deep_by(&["r", "recursive"]),
    reader(&["rg"], Pattern, "iSsnNclvwxFoqHIbaU0pPue=f@m:A:B:C:g:t:T:j:M:r:E:", &[RG]),
    reader(&["ls", "gls", "dir", "vdir"], Places, "1aAbBcCdDfFgGhiI:klmnNopqQrRsStT:uUvw:xXZ", &[LS]).of_here(),
    reader(&["tree"], Places, "adfsphugDFrtUvciqNQnCASL:P:I:xJX", &[&["dirsfirst", "filesfirst", "noreport",
        "gitignore", "prune", "du", "si", "inodes", "device", "ignore-case", "matchdirs", "metafirst", "charset:",
        "filelimit:", "timefmt:", "sort:"]]).of_here(),
    reader(&["fd", "fdfind"], Pattern, "HIuasiFgp0d:t:e:E:c:j:S:1q", &[&["hidden", "no-ignore", "no-ignore-vcs",
        "unrestricted", "absolute-path", "case-sensitive", "ignore-case", "fixed-strings", "glob", "full-path",
        "print0", "max-depth:", "min-depth:", "exact-depth:", "type:", "extension:", "exclude:", "color:", "size:",
        "changed-within:", "changed-before:", "max-results:", "quiet", "prune", "threads:", "strip-cwd-prefix?"]])
        .of_here(),
    reader(&["du"], Places, "0abcd:hkmsStB:x", &[&["null", "all", "apparent-size", "bytes", "total", "max-depth:",
        "human-readable", "summarize", "separate-dirs", "threshold:", "block-size:", "exclude:", "si", "time?",
        "one-file-system"]]).of_here(),
    reader(&["df"], Places, "aB:hHiklPTt:x:", &[&["all", "block-size:", "human-readable", "si", "inodes", "local",
        "portability", "print-type", "total", "type:", "exclude-type:", "output?"]]).of_here(),
    reader(&["stat", "gstat"], Places, "c:ft", &[&["format:", "printf:", "file-system", "terse"]]),
    reader(&["file"], Places, "bikhrv0N", &[&["brief", "mime", "mime-type", "mime-encoding", "no-pad", "raw",
        "print0", "extension", "no-dereference"]]),
    reader(&["diff", "gdiff"], Places, "uU:cC:qsyW:ptTrNPx:iEZbwBad", &[DIFF]).with_digits(),
    reader(&["cmp"], Places, "bi:ln:s", &[&["print-bytes", "ignore-initial:", "verbose", "bytes:", "quiet", "silent"]]),
    reader(&["comm"], Places, "123z", &[&["check-order", "nocheck-order", "output-delimiter:", "total",
        "zero-terminated"]]),
    reader(&["sort", "gsort"], Places, "bdfgiMhnrRVcCsuzk:t:S:", &[&["ignore-leading-blanks", "dictionary-order",
        "ignore-case", "general-numeric-sort", "human-numeric-sort", "month-sort", "numeric-sort", "random-sort",
        "reverse", "version-sort", "sort:", "check?", "key:", "field-separator:", "stable", "unique",
        "zero-terminated", "buffer-size:", "parallel:", "debug"]]),
    // What follows the first file is written.
    reader(&["uniq", "guniq"], Most(1), "cdDf:is:uw:z", &[&["count", "repeated", "all-repeated?", "skip-fields:",
        "group?", "ignore-case", "skip-chars:", "unique", "zero-terminated", "check-chars:"]]),
    reader(&["xxd"], Most(1), "abCc:eEg:il:o:ps:u", &[]),
    reader(&["cut"], Places, "b:c:d:f:nsz", &[&["bytes:", "characters:", "delimiter:", "fields:", "complement",
        "only-delimited", "output-delimiter:", "zero-terminated"]]),
    reader(&["tr"], Text, "cCdst", &[&["complement", "delete", "squeeze-repeats", "truncate-set1"]]),
    reader(&["fold"], Places, "bsw:", &[&["bytes", "spaces", "width:"]]),
    reader(&["fmt"], Places, "cstuw:g:p:", &[&["width:", "goal:", "prefix:", "split-only", "uniform-spacing"]]),
    reader(&["expand", "unexpand"], Places, "at:i", &[&["tabs:", "initial", "all", "first-only"]]),
    reader(&["column"], Places, "ts:o:c:xnN:H:R:T:J", &[&["table", "separator:", "output-separator:", "json",
        "table-columns:"]]),
    reader(&["paste"], Places, "d:sz", &[&["delimiters:", "serial", "zero-terminated"]]),
    reader(&["join"], Places, "a:e:io:t:v:1:2:j:z", &[&["header", "check-order", "nocheck-order", "ignore-case"]]),
    reader(&["pr"], Places, "adFl:mn?o:s?tTw:", &[&["columns:", "length:", "width:", "omit-header"]]).with_digits(),
    reader(&["od"], Places, "A:j:N:t:vw?bcdosx", &[&["address-radix:", "skip-bytes:", "read-bytes:", "format:"]]),
    reader(&["hexdump", "hd"], Places, "bcCdoxvn:s:", &[]),
    reader(&["strings", "gstrings"], Places, "afn:ot:e:w", &[&["all", "bytes:", "radix:", "encoding:"]]).with_digits(),
    reader(&["base64", "base32"], Places, "dDiw:", &[&["decode", "ignore-garbage", "wrap:"]]),
    reader(&["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum",
        "shasum"], Places, "btza:l:", &[&["binary", "text", "tag", "zero", "length:", "algorithm:", "untagged"]]),
    reader(&["jq", "gojq"], Pattern, "rcsneSMCjaR", &[&["raw-output", "compact-output", "slurp", "null-input",
        "exit-status", "sort-keys", "monochrome-output", "color-output", "join-output", "ascii-output", "raw-input",
        "tab", "indent:", "stream"]]),
    reader(&["unzip"], Most(1), "lZvz", &[]).only_with(&["l", "Z", "v", "z"]),
    reader(&["zipinfo"], Most(1), "1lmsvhtT", &[]),
    reader(&["realpath", "grealpath"], Places, "eLmPqsz", &[&["canonicalize-existing", "canonicalize-missing",
        "logical", "physical", "quiet", "strip", "no-symlinks", "zero", "relative-to:", "relative-base:"]]),
    reader(&["readlink", "greadlink"], Places, "efmnqsvz", &[&["canonicalize", "canonicalize-existing",
        "canonicalize-missing", "no-newline"]]),
    reader(&["basename", "dirname"], Text, "as:z", &[&["multiple", "suffix:", "zero"]]),
    reader(&["pwd"], Nothing, "LP", &[]),
    reader(&["true", "false", ":"], Nothing, "", &[]),
    reader(&["whoami", "arch", "logname", "groups", "hostid", "tty"], Nothing, "s", &[]),
    reader(&["nproc"], Nothing, "", &[&["all", "ignore:"]]),
    reader(&["id"], Text, "gGnruza", &[&["group", "groups", "name", "real", "user", "zero"]]),
    reader(&["uname"], Nothing, "asnrvmpio", &[&["all", "kernel-name", "nodename", "kernel-release", "kernel-version",
        "machine", "processor", "hardware-platform", "operating-system"]]),
    reader(&["hostname"], Nothing, "fsidIA", &[&["fqdn", "short", "domain", "ip-address", "all-ip-addresses"]]),
    reader(&["uptime"], Nothing, "ps", &[&["pretty", "since"]]),
    reader(&["free"], Nothing, "bkmghltw", &[&["bytes", "kibi", "mebi", "gibi", "human", "wide", "total", "lohi"]]),
    reader(&["lscpu"], Nothing, "abceJpx", &[&["json", "all", "online", "offline", "extended?", "parse?"]]),
    reader(&["date", "gdate"], Formats, "uRI?d:", &[&["utc", "universal", "iso-8601?", "rfc-3339:", "rfc-email",
        "date:"]]),
    reader(&["cal", "ncal"], Text, "13jmswy", &[]),
    reader(&["seq"], Text, "f:s:w", &[&["format:", "separator:", "equal-width"]]),
    reader(&["expr", "factor"], Text, "", &[]),
    reader(&["which", "whereis"], Text, "abms", &[&["all", "skip-alias", "skip-functions"]]),
    reader(&["type"], Text, "aptPf", &[]),
    reader(&["command"], Text, "vV", &[]).only_with(&["v", "V"]),
    reader(&["locale"], Text, "amck", &[&["all-locales", "charmaps"]]),
    reader(&["getconf"], Text, "a", &[]),
    reader(&["numfmt"], Text, "d:z", &[&["from:", "to:", "suffix:", "padding:", "format:", "grouping", "round:",
        "field:", "header?"]]),
    reader(&["tokei"], Places, "ft:s:o:C", &[&["files", "type:", "sort:", "output:", "compact", "languages"]]).of_here(),
];
