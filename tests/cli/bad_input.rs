//! Every bad input is one line on stderr and exit code 2, and creates nothing.

use super::Folder;

/// The messages are tested where they are made, in `src/settings` and `src/cli/usage.rs`; here, that each way of input reaches them.
#[test]
fn wrong_words_and_values_are_refused_with_what_to_write() {
    let folder = Folder::new();
    folder.refuses_each(
        "",
        "comprae => 'compare'; see 'gpubench --help'
        run --op matmul => a similar argument exists: '--ops'
        run --ops matmul,ftt => --ops: unknown op 'ftt': did you mean 'fft'?
        run --ops fft --backends cpu,mien --external mine=true => did you mean 'mine'? (valid: cpu, cuda,
        run --ops fft --require cdua => --require: unknown backend 'cdua': did you mean 'cuda'?
        run --ops fft --format jsn => --format: unknown format 'jsn': did you mean 'json'?
        run --ops fft --backends sim --sim fair.toml --variants hots => 'hots' of a chosen op: did you mean 'host'?
        run --config quik => batched, precision, cpu-peers, gpu-peers): did you mean 'quick'?
        run --ops fft --sizes 0 => --sizes: size 0
        run --ops all --sizes 1..1000000:+1 --backends sim --sim fair.toml => more than 1000000: name fewer
        run --ops fft --density NaN => density NaN
        run --ops fft --backends sim --sim absent.toml => 'absent.toml'
        run --ops fft --out - => stdout takes one format
        plot absent --out y --format csv => --format: unknown format 'csv' (valid: png, svg)
        plot absent --out y --charts speeds => --charts: unknown chart 'speeds': did you mean 'speedup'?
        run --ops fft --blas absent.so => --blas: 'absent.so' cannot be read: No such file
        run --ops fft --blas fair.toml => --blas: 'fair.toml' is no shared library
        doctor --blas . => --blas: '.'
        run --ops fft --theme sepia => unknown theme 'sepia'
        run --ops fft --samples 5 --precision 1% => --precision has no effect with --samples
        run --ops fft --backends cpu --threads 4096 => --threads 4096 is more than the
        baseline save x --ops fft --samples 5 --rounds 30 => lower --rounds or raise --samples
        list matmull => unknown op 'matmull': did you mean 'matmul'?
        man rnu => unknown command 'rnu': did you mean 'run'?",
    );
}

#[test]
fn a_wrong_file_is_refused_with_file_and_line() {
    let folder = Folder::new();
    for (text, expected) in [
        ("[[sweep]]\nopps = \"fft\"\n", "bad.toml:2: unknown key 'opps': did you mean 'ops'?"),
        ("require = \"cdua\"\n[[sweep]]\nops = \"fft\"\n", "bad.toml: unknown backend 'cdua': did you"),
        (
            "backends = \"sim\"\nsim = \"fair.toml\"\nops = \"fft\"\nvariants = [\"hots\"]\n",
            "bad.toml:4: no chosen backend has a variant 'hots' of a chosen op: did you mean 'host'?",
        ),
        ("threads = 4096\nbackends = \"cpu\"\nops = \"fft\"\n", "--threads 4096 is more than the "),
        ("# nothing yet\n", "bad.toml names no ops"),
    ] {
        folder.write("bad.toml", text);
        folder.refuses("run --config bad.toml", expected);
    }
    folder.write("typo.toml", "[[variant]]\nname = \"a\"\n[[rule]]\noutcome = \"crahs\"\n");
    folder.refuses_each(
        "run",
        "--config . => cannot read sweep file '.'
        --config /dev/null => /dev/null names no ops
        --config article --ops spmv => give sizes with --sizes
        --ops fft --backends sim --sim typo.toml => line 4: unknown outcome 'crahs': did you mean 'crash'?",
    );
}

#[test]
fn an_absurd_number_of_threads_in_the_environment_is_ignored() {
    let folder = Folder::new();
    folder.fair("--ops fft --sizes 4,8", "out");
    // So many threads would take more than this CPU time to start.
    folder.shell("ulimit -t 10; RAYON_NUM_THREADS=100000 exec $G plot out --format svg --out charts").good();
}
