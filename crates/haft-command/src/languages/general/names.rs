//! Names of functions in many languages, with what they do where a judgement needs it.
//!
//! haft looks a name up by its last part, such as `system` of `os.system`, because modules are renamed and imported in
//! many ways. A name that is harmless elsewhere costs only a question that haft asks anyway.

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallKind {
    /// Runs a command.
    Run,
    /// Runs a command that its first word names: `send(:system, …)`.
    RunByName,
    /// Runs what stands before the dot, where that is text.
    RunReceiver,
    /// Runs the text of a file, or of an address, as code.
    Load,
    /// Runs text as code of the same language.
    Evaluate,
    /// Runs a command, or text as code: `exec`.
    RunOrEvaluate,
    /// Opens a connection.
    Connect,
    /// Removes paths.
    Remove,
    /// Writes to the path that is its first word; the others are content.
    WriteFirst,
    /// Writes to all paths that are its words.
    WriteAll,
    /// Writes to what stands before the dot; its words are content.
    WriteReceiver,
    /// Copies the first to the last, which is written.
    Copy,
    /// Moves the first to the last.
    Move,
    /// Opens a file, to read or to write it.
    Open,
    /// Reads a file.
    Read,
    /// Looks whether there is a file, and how it is.
    List,
    /// Takes text that is not a path: it is printed, compared or cut.
    Text,
    /// Changes the folder.
    Folder,
    /// Acts on processes.
    Kill,
    /// Gains rights.
    Rights,
}

/// Says what a call does, by its whole name in which the parts are parted by dots.
pub(crate) fn sort(name: &str) -> Option<CallKind> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let has = |list: &str| is_in(list, last);
    let begins = |list: &str| list.split(' ').any(|begin| name.starts_with(begin));
    Some(match () {
        () if is_in(HARMLESS, name) => return None,
        () if last == "exec" => CallKind::RunOrEvaluate,
        () if has(RUNNERS) || matches!(name, "os.execute" | "Sys.command") || name.starts_with("subprocess.") => {
            CallKind::Run
        }
        () if has(RUNNERS_OF_RECEIVER) => CallKind::RunReceiver,
        () if has(LOADERS) => CallKind::Load,
        () if has(RUNNERS_BY_NAME) => CallKind::RunByName,
        () if has(EVALUATORS) || is_in(EVALUATORS_WITH_MODULE, name) => CallKind::Evaluate,
        () if has(CONNECTORS) || begins(NETWORK) => CallKind::Connect,
        () if has(REMOVERS) => CallKind::Remove,
        () if has(WRITERS_TO_FIRST) || matches!(name, "File.write" | "IO.write" | "IO.binwrite") => {
            CallKind::WriteFirst
        }
        () if has(WRITERS_TO_ALL) => CallKind::WriteAll,
        () if has(WRITERS_TO_RECEIVER) => CallKind::WriteReceiver,
        () if has(COPIERS) => CallKind::Copy,
        () if has(MOVERS) || name == "os.replace" => CallKind::Move,
        () if has(OPENERS) || matches!(name, "File.new" | "os.open") => CallKind::Open,
        () if has(VARIABLE_LOADERS) => CallKind::Text,
        () if has(READERS) || matches!(name, "File.read" | "IO.read") => CallKind::Read,
        () if has(LISTERS) => CallKind::List,
        () if has(FOLDER_CHANGERS) => CallKind::Folder,
        () if has(KILLERS) => CallKind::Kill,
        () if has(RIGHTS) => CallKind::Rights,
        () if has(TEXT) && !name.ends_with("path.join") && name != "File.join" => CallKind::Text,
        () => return None,
    })
}

/// Says that a name does so even where it is only handed on: `map(os.remove, files)`.
pub(crate) fn sort_of_mention(name: &str) -> Option<CallKind> {
    let is_plain_word = matches!(name, "run" | "call" | "exec" | "sh" | "remove" | "delete" | "rm" | "pipeline");
    match sort(name)? {
        CallKind::Evaluate => (name == "eval").then_some(CallKind::Evaluate),
        sort @ (CallKind::Run | CallKind::Remove) => (!is_plain_word || name.contains('.')).then_some(sort),
        _ => None,
    }
}

/// Says that a name that ends so is more often that of something else, unless it is one of a module that does it.
pub(crate) fn is_vague(last: &str) -> bool {
    is_in(VAGUE, last)
}

/// Says that a module has functions that run commands or change files.
pub(crate) fn is_acting_module(module: &str) -> bool {
    let last = module.rsplit('.').next().unwrap_or(module);
    is_in(ACTING_MODULES, last.trim_start_matches("node:"))
}

/// Says that a name turns text into other text that can be code, and says nothing else.
pub(crate) fn is_decoder(word: &str) -> bool {
    is_in(DECODERS, word)
}

/// Says that a name puts what it downloads into a file.
pub(crate) fn is_saver(word: &str) -> bool {
    is_in(SAVERS, word)
}

/// Says that a name turns text around or spells it out, which is harmless as a rule.
pub(crate) fn is_speller(word: &str) -> bool {
    is_in(SPELLERS, word)
}

fn is_in(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// Harmless ones whose last part is a name of others.
const HARMLESS: &str = "re.compile regex.compile sqlite3.connect";

/// `asyncio.run(main())`, `app.delete("/items")`, `pattern.exec(text)`, `page.evaluate(…)`.
const VAGUE: &str = "run call exec sh cmd Command pipeline compile evaluate Script delete remove send method apply";
const ACTING_MODULES: &str = "\
    subprocess os posix pty popen2 commands child_process Open3 Kernel Process IO shelljs execa zx shutil fs \
    fs/promises promises fsp fs-extra fse File Files FileUtils Dir Path Pathname Deno Bun vm sys builtins __builtins__ \
    global globalThis process Runtime getRuntime";

const RUNNERS: &str = "\
    system popen popen2 popen3 popen4 Popen execl execle execlp execlpe execv execve execvp execvpe spawn \
    spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe posix_spawn posix_spawnp run call check_call \
    check_output getoutput getstatusoutput execSync execFile execFileSync spawnSync shell_exec passthru \
    proc_open pcntl_exec capture2 capture2e capture3 pipeline pipeline_r popen2e create_subprocess_shell \
    create_subprocess_exec execa execaSync execaCommand execaCommandSync Command readpipe qx syscall startfile sh \
    ShellExecute capturex systemx callCommand callProcess readProcess readCreateProcess readProcessWithExitCode \
    rawSystem cmd ProcessBuilder";
/// They run what stands before the dot, where that is text: `"ls".execute()` of Groovy.
const RUNNERS_OF_RECEIVER: &str = "\
    execute";
/// They run the text of a file as code, which may lie on another machine.
const LOADERS: &str = "\
    include include_once require_once import importScripts";
const RUNNERS_BY_NAME: &str = "\
    send __send__ public_send call_user_func call_user_func_array array_map method apply";
const EVALUATORS: &str = "\
    eval execfile compile Function runInNewContext runInThisContext runInContext instance_eval class_eval \
    module_eval loadstring create_function run_path run_module evaluate Script";
const EVALUATORS_WITH_MODULE: &str = "\
    load pickle.loads pickle.load marshal.loads marshal.load Marshal.load dill.loads yaml.load yaml.unsafe_load \
    types.FunctionType FunctionType";
const CONNECTORS: &str = "\
    urlopen urlretrieve create_connection connect connect_ex sendto fetch curl_exec curl_init fsockopen pfsockopen \
    stream_socket_client socket_connect createConnection TCPSocket UDPSocket getstore getprint SMTP SMTP_SSL FTP \
    HTTPConnection HTTPSConnection axios create_datagram_endpoint open_connection gethostbyname getaddrinfo \
    URLopener XMLHttpRequest";
const NETWORK: &str = "\
    requests. httpx. aiohttp. axios. http.get https.get http.request https.request LWP. Net.HTTP Net.FTP Net.SMTP \
    HTTP.Tiny IO.Socket URI.open OpenURI Faraday HTTParty paramiko. ftplib. smtplib. urllib.request. urllib2. \
    urllib3. net.connect tls.connect telnetlib. Socket.tcp TCPSocket. http.client.";
const REMOVERS: &str = "\
    unlink remove rmtree rmdir removedirs rimraf rimrafSync rm_rf rm_r rm_f rm rmSync unlinkSync rmdirSync \
    removeSync emptyDirSync emptyDir delete safe_unlink remove_entry remove_entry_secure remove_dir remove_file \
    remove_tree truncate truncateSync send2trash shred";
const WRITERS_TO_FIRST: &str = "\
    writeFile writeFileSync appendFile appendFileSync createWriteStream file_put_contents outputFile outputFileSync \
    writeJsonSync writeTextFile writeTextFileSync binwrite savetxt to_csv to_json move_uploaded_file sysopen \
    write_file append_file spew";
const WRITERS_TO_ALL: &str = "\
    chmod chmodSync chmod_R fchmod lchmod chown chownSync chown_R lchown mkdir mkdirSync makedirs mkdir_p mkpath \
    make_path touch utime utimesSync mkfifo mknod setxattr extractall extract extractTo ensureDirSync ensureFileSync \
    unpack_archive";
const WRITERS_TO_RECEIVER: &str = "\
    write_text write_bytes symlink_to hardlink_to link_to";
const COPIERS: &str = "\
    copy copy2 copyfile copytree copyFile copyFileSync copySync cp cp_r cpSync symlink symlinkSync link linkSync ln \
    ln_s ln_sf install copymode copystat copy_file";
const MOVERS: &str = "\
    rename renames renameSync move moveSync mv move_file";
const OPENERS: &str = "\
    open fopen openSync sysopen TarFile ZipFile";
const READERS: &str = "\
    read_text read_bytes readFile readFileSync createReadStream readlines foreach binread file_get_contents readfile \
    file fromfile loadtxt read_csv readTextFile readTextFileSync lines read_file slurp dofile require \
    sendfile FileInput input highlight_file show_source parse_ini_file";
/// They read a file of variables into the environment, and show nothing of it.
const VARIABLE_LOADERS: &str = "load_dotenv dotenv_values loadEnvFile";
const LISTERS: &str = "\
    exists isfile isdir islink stat lstat existsSync statSync is_file is_dir file_exists getsize getmtime access \
    accessSync filesize";
const FOLDER_CHANGERS: &str = "\
    chdir cd";
const KILLERS: &str = "\
    kill killpg posix_kill";
const RIGHTS: &str = "\
    setuid setgid seteuid setegid setreuid setresuid setregid setresgid posix_setuid change_privilege chroot \
    setgroups";
const TEXT: &str = "\
    print puts echo printf say p pp log error warn info debug write split rsplit join replace replaceAll sub gsub \
    strip lstrip rstrip startswith endswith startsWith endsWith start_with end_with test match search findall \
    includes indexOf find count index partition die preg_match str_replace explode implode assert \
    assertEqual equal strictEqual var_dump print_r import_module __import__";
const DECODERS: &str = "\
    b64decode b32decode b16decode b85decode a85decode urlsafe_b64decode standard_b64decode decodebytes decodestring \
    unhexlify a2b_hex a2b_base64 fromhex decompress zlib marshal codecs atob unescape decodeURIComponent decodeURI \
    decode64 strict_decode64 urlsafe_decode64 base64_decode decode_base64 gzinflate gzuncompress gzdecode str_rot13 \
    hex2bin convert_uudecode inflate inflateSync gunzipSync inflateRawSync MIME pack unpack unpack1 uudecode \
    fromCharCode fromCodePoint lzma bz2";
const SAVERS: &str = "\
    urlretrieve getstore copyfileobj pipe pipeTo pipeline download save extractall extract unpack_archive";
const SPELLERS: &str = "\
    chr reverse reversed strrev tr maketrans translate char ord bytes bytearray decode";
