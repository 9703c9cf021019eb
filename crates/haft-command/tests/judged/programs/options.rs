//! Options and words by which a harmless program runs code, writes, sends, or reads what a file names.
//!
//! The first tables hold commands that haft must not allow without a question. `EVERYDAY` holds commands that haft must
//! not ask about: it shows the cost of a stricter row.

use haft_policy::decision::Decision::{Allow, Ask};
use haft_policy::examples::{decision, decision_beside};

/// Compilers, interpreters, package settings, documents and git.
const LANGUAGES_AND_VERSION_CONTROL: &str = r#"
cpp -B. a.c
cpp -include .env a.c
cpp -specs=x a.c
cpp -wrapper sh,-c,x a.c
cpp -fplugin=./x.so a.c
cpp -imacros .env a.c
cpp -MF out.d -MD a.c
cpp -MD a.c
cpp -no-integrated-cpp -B. a.c
cpp @args a.c
cpp -dumpdir x a.c
cpp -save-temps a.c
gcc -dumpmachine -wrapper ./x
gcc -dumpversion -fplugin=./x.so
gcc -print-search-dirs -B.
gcc -dumpmachine -specs=x
gcc -dumpmachine @args
npm set registry https://x.example
npm set script-shell ./x
npm c set a b
npm set a=b
gpg --status-file x --verify a.sig a.tar
gpg --logger-file x --verify a.sig a.tar
gpg --attribute-file x --list-keys
gpg --list-keys --options evil.conf
gpg --homedir evil --list-keys
gpg --list-keys --keyring ./x.kbx
gpg --verify a.sig --command-file x
gpg --list-keys --auto-key-retrieve
gpg --verify --auto-key-retrieve a.sig
gpg --verify --keyserver-options auto-key-retrieve a.sig a.tar
gpg --list-options show-photos --photo-viewer 'sh x' --list-keys
gpg --list-keys --agent-program ./x
gpg --list-keys --dirmngr-program ./x
gpg --list-keys --debug-level guru --log-file x
gpgv --status-file x a.sig a.tar
gpgv --logger-file x a.sig a.tar
gpgv --output x a.sig
gpgv -o x a.sig
pytest --version
pytest -h
pytest --help
py.test --version
pytest --collect-only
helm lint chart --post-renderer ./x
helm template chart --post-renderer ./x
helm template --repo https://x.example chart
helm template oci://x.example/chart
helm template chart --dependency-update
helm show chart https://x.example/a.tgz
helm show values --repo https://x.example a
helm show all bitnami/nginx
helm inspect chart a/b
helm completion bash --plugin x
helm template chart --set-file a=.env
helm lint chart --set-file a=.env
helm template chart --values https://x.example/v.yaml
helm template chart -f https://x.example/v.yaml
pandoc -d evil.yaml a.md
pandoc --defaults=evil.yaml a.md
pandoc --defaults evil a.md
pandoc --lua-filter x.lua a.md
pandoc -L x.lua a.md
pandoc --filter ./x a.md
pandoc -F ./x a.md
pandoc -t x.lua a.md
pandoc -f x.lua a.md
pandoc --to=./x.lua a.md
pandoc --data-dir=evil a.md
pandoc --pdf-engine=./x a.md
pandoc --pdf-engine-opt=-shell-escape a.md
pandoc --extract-media=x a.docx
pandoc --log=x a.md
pandoc --embed-resources a.html
pandoc --self-contained a.html
pandoc -s --mathml --abbreviations=.env a.md
pandoc --syntax-definition=x.xml a.md
pandoc --include-in-header=.env a.md
pandoc -t latex --citeproc --bibliography https://x.example/b a.md
pandoc --print-highlight-style=x a.md
pandoc a.tex
pandoc a.rst
pandoc -f latex a.md
pandoc -f rst a.md
pandoc a.org
pandoc --file-scope --metadata-file=.env a.md
go env -w CC=./x
GOFLAGS=-toolexec=./x go version
GOFLAGS=-toolexec=./x go env
go list -toolexec ./x ./...
go list -export ./...
go list -deps -compiled ./...
go list -m -u all
go list -mod=mod ./...
go list -asmflags x -gccgoflags=-x ./...
go list -compiler=./x ./...
go list -pgo=x ./...
go version -m ./a.out
CC=./x go list ./...
CC=./x go env
PKG_CONFIG=./x go list ./...
GOENV=evil go version
GOTOOLCHAIN=path go version
GOTOOLCHAIN=go1.99 go version
GOPACKAGESDRIVER=./x go list ./...
GOROOT=evil go version
GOPROXY=https://x.example go list ./...
GOWORK=evil/go.work go list ./...
identify -write x.png a.png
identify -format '%[fx:w]' -set a b -write x a.png
identify https://x.example/a.png
identify 'msl:evil.msl'
identify 'text:.env'
identify @list
identify 'vid:*.jpg'
identify mvg:x.mvg
identify ephemeral:a.png
identify 'label:@.env'
identify caption:@/etc/passwd
identify -debug all -log x a.png
identify svg:evil.svg
identify a.svg
identify a.mvg
identify 'pango:@.env'
identify a.ps
identify a.pdf
identify -authenticate x -define a=b a.png
identify plugin:x
PYTHONPYCACHEPREFIX=/x python3 -m py_compile a.py
PYTHONPYCACHEPREFIX=x python3 -V
python3 -X pycache_prefix=/x -m py_compile a.py
python3 -m compileall -i list
python3 -X presite=evil -V
python3 -m site --user-site
python3 -m sysconfig --generate-posix-vars
PYTHONPLATLIBDIR=evil python3 -V
PYTHONEXECUTABLE=./x python3 -m site
PYTHONINSPECT=1 python3 -m this
PYTHON_HISTORY=x python3 -m this
PYTHONDUMPREFSFILE=x python3 -m this
PYTHONPATH=evil python3 -m json.tool a.json
git show HEAD -- :/.env
git show HEAD -- ':(top).env'
git show HEAD -- ':(glob)**/.env'
git show HEAD -- ':(icase).ENV'
git show HEAD -- ':/*.env'
git diff -- ':(top,icase).ENV'
git log -p -- ':(glob)**/.env'
git diff HEAD -- '*.env'
git show HEAD:./.env
git show :0:.env
git show ':(top).env'
git diff --no-index /dev/null .env
git blame -- .env
git grep x -- ':(glob)**/.env'
git show HEAD -- ':(attr:foo).env'
git show HEAD -- ':!src' ':(exclude)docs' .env
git log -p --all -- .env
git show HEAD^{tree}:.env
git show HEAD@{1}:.env
git cat-file -p HEAD:.env
git cat-file blob :.env
git status --pathspec-from-file=.env
git diff --ext-diff
git log --textconv -p
git show --textconv HEAD:a
git archive --add-virtual-file=a:b --add-file=.env HEAD
git archive --output=a.txt HEAD
git grep --open-files-in-pager=./x foo
git grep -O./x foo
git grep -f .env
git log --output=a.txt
git diff -O.env
git log -O.env -p
git blame --ignore-revs-file=.env a.txt
git blame --contents .env a.txt
git fsck --lost-found
git bugreport --diagnose -o /x
git help -w x
git help --web x
git -c core.fsmonitor=./x status
git -c core.pager=./x log
git -c core.sshCommand=./x status
git -c diff.external=./x diff
git -c alias.x='!sh x' x
git -c include.path=evil status
git -c core.hooksPath=evil status
git -c gpg.program=./x log --show-signature
git -c core.attributesFile=x diff
git --config-env=core.pager=X log
git hash-object --stdin-paths
git fast-export --export-marks=x HEAD
git add --pathspec-from-file=x
git stash show -p --ext-diff
git remote show origin
git remote -v update
git remote update
git lfs ls-files --include=x
git lfs track '*.bin'
git lfs logs clear
git interpret-trailers --in-place a.txt
git mailsplit -o. inbox
tree --fromfile .env
tree -o out.html
tree --infofile=.env
tree --gitfile=.env
tree -R -H . -L 1
tree -R -L 1 -o x
tree -L 1 -R
"#;

/// Documents that name further files, files with names of files, text tools.
const DOCUMENTS_AND_LISTS: &str = r#"
echo HEAD:.env | git show --stdin
echo HEAD:.env | git log -p --stdin
xzcat --files=list
zstdcat --filelist list
cmake --help-full out.txt
cmake --system-information out.txt
man -l x
man -l ./evil.1
man ./evil.1
man --local-file x
man -l .env
man -H./x ls
man --html=./x ls
man -P ./x ls
man --pager=./x ls
man -C evil.conf ls
man -M evil ls
man --manpath=evil ls
man -T -l x
man -Tdvi ls
man --preprocessor=t ls
man -X ls
man --gxditview ls
man -K foo
man -Z -l x
MANPATH=evil man ls
MANPAGER=./x man ls
MANROFFOPT=-U man ls
MANOPT=-P./x man ls
man -w -C x ls
apropos -C evil.conf x
apropos --config-file=evil x
whatis -C evil ls
whatis -M evil ls
apropos -M evil x
groff a.ms
troff a.ms
nroff -man x.1
nroff x
soelim x
groff -U -man x
tbl x
eqn x
pic x
grog x
tex a.tex
latex a.tex
pdflatex -shell-escape a.tex
lualatex a.tex
detex a.tex
texcount -inc a.tex
chktex a.tex
lacheck a.tex
bibtex a
kpsewhich -expand-var x
makeinfo a.texi
texi2any a.texi
m4 a.m4
m4 -D a=b a.m4
cpp a.c
gcc -E a.c
sed -f x.sed a.txt
sed --file=x.sed a.txt
awk -f x.awk a.txt
awk -i inplace '{print}' a.txt
awk -i x '{print}' a.txt
awk -l filefuncs '{print}' a.txt
gawk --include=x '{print}' a.txt
gawk -E x.awk a.txt
gawk -D x a.txt
gawk -ox '{print}' a.txt
awk '@include "x"; {print}' a.txt
awk '@load "x"; {print}' a.txt
awk '{ while ((getline l < ".env") > 0) print l }' a.txt
awk '{ getline l < $1; print l }' a.txt
awk 'BEGIN { ARGV[1] = ".env"; ARGC = 2 } {print}'
awk '{print > "a.txt"}' a.txt
awk '{print > $1}' a.txt
awk '{print | "sh"}' a.txt
awk '{print |& "sh"}' a.txt
awk '{system($0)}' a.txt
gawk '{ print |& "/inet/tcp/0/x.example/80" }' a.txt
sed 'r .env' a.txt
sed 'R .env' a.txt
sed 'w a.txt' b.txt
sed 's/x/y/e' a.txt
sed 's/x/y/w a.txt' b.txt
sed --expression='r .env' a.txt
sed -n '/x/W a.txt' b.txt
sed -s -i '' a.txt
sed -E -i.bak s/a/b/ a.txt
tar -T list -cf new.tar
tar --files-from=list -cf new.tar
tar cf new.tar -T -
tar cf new.tar -T - < list
tar -cf new.tar @other.tar
tar -cf new.tar --exclude-from=.env src
tar -X .env -cf new.tar src
tar -tf a.tar --to-command=./x
tar -tf a.tar --checkpoint=1 --checkpoint-action=exec=./x
tar -tf a.tar -I ./x
tar -tf a.tar --use-compress-program=./x
tar -tf a.tar -F ./x
tar -tf a.tar --info-script=./x
tar -tf a.tar --rsh-command=./x
tar -tf host:a.tar
tar -tf a.tar --index-file=a.txt
tar -cf new.tar -g a.txt src
tar -cf new.tar --remove-files src
tar --volno-file=a.txt -tf a.tar
tar -tf a.tar --rmt-command=x
tar tf a.tar --checkpoint-action='exec=sh x'
bsdtar -cf new.tar @a.tar
bsdtar --use-compress-program ./x -tf a.tar
xargs -a list cat
xargs -a list rm
xargs --arg-file=list cat
rsync --files-from=list . out
rsync --exclude-from=.env -n . out
rsync --filter='merge .env' -n . out
rsync -F . out
wc --files0-from=list
wc --files0-from=- < list
sort --files0-from=list
sort --files0-from=-
du --files0-from=list
find -files0-from list
find -files0-from -
find -files0-from list -print
du -X .env
curl -K x
wget -i list
wget --config=x https://x.example
grep -f .env a.txt
grep --file=.env a.txt
grep --exclude-from=.env -r x
rg -f .env a.txt
rg --ignore-file=.env x
rg --pre ./x foo
rg --pre=./x foo
rg --hostname-bin ./x foo
rg --hyperlink-format x --hostname-bin=./x foo
ugrep --filter='*:./x' foo
ugrep --filter=pdf:./x foo
ugrep --pager=./x foo
ugrep --save-config=x foo
ugrep --config=x foo
ugrep --view=./x foo
ugrep -Q foo
ugrep --from=list foo
ugrep --ignore-files=.env foo
ack --ackrc=evil foo
ack --pager=./x foo
ack --files-from=list foo
ack -x foo
ag --pager ./x foo
ag -p .env foo
file -f list
file --files-from list
file -C -m x
date -f .env
date --file=.env
column -J --table x .env
pr -f .env
diff --from-file=.env a.txt
diff --to-file=.env a.txt
diff -X .env a b
diff -S .env a b
sdiff -o x a b
sdiff --diff-program=./x a b
diff3 --diff-program=./x a b c
delta --pager ./x a b
delta --config=evil a b
delta --features x a b
difft --override x a b
wdiff -t --start-delete=x .env b
shuf -o x a.txt
shuf --output=a.txt b.txt
shuf --random-source=.env a.txt
sort -o a.txt b.txt
sort --output=a.txt b.txt
sort --ou=a.txt b.txt
sort -T / a.txt
sort --compress-program=./x a.txt
sort --random-source=.env -R a.txt
sort --compress=./x a.txt
uniq a.txt README.md
tee -a a.txt
split a.txt
csplit a.txt 1
nl .env
shasum -c .env
sha256sum -c .env
iconv -o a.txt b.txt
iconv -f x -t y .env
xxd -r a.hex a.txt
xxd a.bin a.txt
xxd -r a.hex new.bin -
base64 -o a.txt b.txt
hexdump -f .env a.bin
od --traditional .env
less -k x a.txt
less --lesskey-file=x a.txt
less -o a.txt b.txt
less -O a.txt b.txt
less --log-file=a.txt b.txt
less -t tag
less -T x a.txt
less -ttag
less '+!ls' a.txt
less '+|x' a.txt
less --tag=x
less --tag-file=.env -t x
less --cmd='!ls' a.txt
more '+!ls' a.txt
more '+/!ls' a.txt
most +x a.txt
bat --pager ./x a.txt
bat --config-file=x a.txt
bat cache --build
bat --ignored-suffix x --map-syntax a:b .env
bat --generate-config-file
bat --lessopen a.txt
bat --theme-dir x a.txt
bat --source x --target y cache --build
vim -R a.txt
view a.txt
vi a.txt
nano -v a.txt
emacs --batch a
ed a.txt
"#;

/// Archives, builders and checkers of sources.
const ARCHIVES_AND_CHECKERS: &str = r#"
unzip -l a.zip -d /x
zipinfo -d /x a.zip
zip -T -TT ./x new.zip src
zip --unzip-command ./x -T new.zip src
zip -m new.zip src
zip new.zip -@ < list
zip -la -lf a.txt new.zip src
zip --logfile-path a.txt new.zip src
zip -O a.txt new.zip src
7z l a.7z @list
7z l a.7z -o/x
7z l -i@list a.7z
7z a new.7z @list
7z a -sdel new.7z src
7z a new.7z src
7z b -slog=x
xz --files=list
xz --files0=list
xz -l --files=list
zstd --filelist=list
zstd --filelist list -l
zstd -l --output-dir-flat x a.zst
zstd -c --patch-from=.env a
zstd -c -D .env a
zstd -b a.txt
zstd --train a.txt
zstd --train a.txt -o dict
zstd -c --trace x a.txt
lz4 a.txt new.lz4
lzop -c -p/x a.txt
lz4 -m -c a.txt
brotli -c -o x a.txt
pigz -c -A x a.txt
unzstd -t --filelist=list
unzstd --output-dir-flat=x a.zst
zdiff a.gz .env
cpio -i -t -F host:a
cpio -it --rsh-command=./x -F h:a
cpio -o < list
cpio -oF new.cpio < list
cpio -itE .env
cpio -pd out < list
cpio -o
cpio -p out
cpio --pattern-file=.env -it
pax -rf a.tar
ar t liba.a --plugin ./x.so
ar tP liba.a --target=x
ar -M < script
llvm-ar -M
rar l a.rar @list
rar l -ilogx a.rar
rar l a.rar -logx
unrar l a.rar -ilogx
unrar p a.rar
lsar -x a
dpkg-deb -x a.deb out
dpkg-deb -R a.deb out
dpkg-deb --raw-extract a.deb out
dpkg-deb -W --showformat=x .env
cargo tree --config evil.toml
cargo tree --target-dir x
cargo metadata --lockfile-path x
cargo tree --config 'build.rustc-wrapper="./x"'
cargo --config build.rustc="./x" tree
cargo modules structure
cargo modules dependencies
cargo geiger
cargo machete --fix
cargo clean -n --target-dir /x
cargo tree --registry x
rustc --print cfg -C linker=./x
rustc --print sysroot --sysroot=evil
rustc --print native-static-libs a.rs
rustc --print=file-names a.rs
rustc --print cfg=out.txt
rustc --print cfg -o x a.rs
rustc --print cfg -Zcodegen-backend=./x.so
rustc --print cfg @args
rustc -vV @args
rustc --explain E0382 -Zllvm-plugins=./x.so
rustc --print link-args a.rs
rustc --print cfg -L evil --extern x=./x.so
rustc -Zhelp -C save-temps --print cfg
rustdoc --print cfg --test-runtool ./x
rustdoc --check a.rs
rustdoc --print unversioned-files --extend-css .env
rustdoc --print x --test-builder ./x
rustfmt --print-config default a.txt
rustfmt --print-config current x a.rs
rustfmt --emit files a.rs
rustup show --toolchain x
rustup which --toolchain evil rustc
clang-format -i a.c
clang-format --files=list
clang-tidy --load=./x.so a.c
clang-tidy -p evil a.c
clang-tidy --fix a.c
clang-tidy --export-fixes=a.txt b.c
clang-tidy --vfsoverlay=x a.c
clang-tidy --store-check-profile=x a.c
clang-tidy a.c -- -fplugin=./x.so
clang-tidy a.c -- -Xclang -load -Xclang ./x.so
clang-tidy --extra-arg=-fplugin=./x.so a.c
clang-check a.c -- -fplugin=./x.so
cppcheck --addon=./x src
cppcheck --addon=x.py src
cppcheck --project=x
cppcheck --file-list=list
cppcheck --rule-file=x src
cppcheck --cppcheck-build-dir=x src
cppcheck --output-file=a.txt src
cppcheck --library=x src
cppcheck --clang=./x src
cppcheck --plist-output=x src
cppcheck --suppressions-list=.env src
cppcheck --exe=./x src
cppcheck --include=.env src
cppcheck --xml --checkers-report=a.txt src
cppcheck --dump src
cppcheck --addon-python=./x src
cppcheck --premium=x src
cpplint --output=x --config=x a.c
iwyu_tool -p . -- -Xiwyu
include-what-you-use -Xiwyu --mapping_file=x a.c
include-what-you-use -fplugin=./x.so a.c
gofmt -w a.go
gofmt -cpuprofile=a.txt a.go
gofmt -r 'a -> b' -w .
golines -w a.go
golines --base-formatter ./x a.go
gci write a.go
goimports -cpuprofile a.txt a.go
goimports -memprofile a.txt a.go
goimports -trace a.txt a.go
gofumpt -w .
golines --profile=x a.go
gci list --custom-order x
go mod edit -json -fmt
go mod graph -modfile x
jar tf a.jar -C evil
jar --list --file a.jar -J-javaagent:x.jar
jar tf a.jar @args
java -version -javaagent:x.jar
java -version @args
java -XX:OnError=./x -version
java -XX:OnOutOfMemoryError=./x -version
java -agentlib:x -version
java -XX:Flags=.hotspotrc -version
java -XX:+ReadVMOptionsFile -version
java -Xlog:gc:file=a.txt -version
java -Xloggc:a.txt -version
java -XX:HeapDumpPath=x -version
java -XX:SharedArchiveFile=x -version
java -Xbootclasspath/a:x.jar -version
java -XX:+UnlockDiagnosticVMOptions -XX:LogFile=x -XX:+LogVMOutput -version
java -Djava.system.class.loader=X -cp evil -version
java -XX:ErrorFile=x -version
java -XX:StartFlightRecording=filename=x -version
java -XX:VMOptionsFile=x -version
java -XX:ArchiveClassesAtExit=x -version
java -XshowSettings @args
java --upgrade-module-path evil -version
java -Xshare:dump -version
java -splash:x -version
javap -J-javaagent:x.jar Main
javap @args
javac -version @args
kotlinc -version @args
kotlinc -version -Xplugin=x.jar
mvn -v -f evil/pom.xml
mvn -v -Dmaven.ext.class.path=x.jar
gradle -v -I x.gradle
gradle --version --init-script x
sbt --version -J-javaagent:x
swiftformat --lint . --config evil
swiftformat --lint --cache x .
swiftformat --lint --report x .
swiftlint lint --config evil.yml
swiftlint lint --output x
swiftlint lint --reporter x --use-script-input-files
swiftlint lint --fix
swiftlint --fix lint
swiftformat --lint --output x a.swift
zig env --zig-lib-dir evil
zig version --zig-lib-dir evil
dart format --output=none --set-exit-if-changed -o write lib
ocamlformat --config=x a.ml
ocamlformat -o a.txt a.ml
ocamlformat --output=a.txt a.ml
tsc --noEmit --plugins x
tsc --noEmit --generateTrace x
tsc --noEmit --generateCpuProfile a.txt
tsc --noEmit --tsBuildInfoFile a.txt --incremental
tsc --noEmit --incremental
tsc --noEmit @args
tsc --showConfig @args
tsc --init --outDir x
tsc --build --noEmit
tsc -b --clean --noEmit
tsc -b --listFilesOnly
biome check --write src
biome lint --apply src
biome ci --fix
biome check --unsafe --fix src
biome check --reporter-file=x src
biome check --log-file=x src
biome format --write
biome check --plugin x
biome migrate
biome init
prettier --no-config --plugin=./x.js a.js
prettier --no-config --plugin ./x.js a.js
prettier --no-config --write a.js
prettier --no-config --cache --cache-location=x a.js
pyright --createstub x
pyright --venvpath evil
pyright --pythonpath ./x src
pyright --typeshedpath x src
pyright --watch
pyright --project evil.json
basedpyright --writebaseline
basedpyright --baselinefile a.txt
ty server
ty check --project evil
ty check --output-file a.txt
ty check --fix
bandit -o a.txt -r src
bandit -r src -b .env
bandit --custom x -f custom -r src
vulture --make-whitelist src
radon cc -O x src
radon cc --output-file=x src
interrogate --generate-badge x src
interrogate -g x src
interrogate -o a.txt src
codespell -w
codespell -i 3 -w src
codespell -D .env src
codespell -I .env src
codespell --dictionary=.env src
codespell -x .env src
markdownlint --fix a.md
markdownlint -f a.md
markdownlint -r ./x.js a.md
markdownlint --rules ./x.js a.md
markdownlint -c evil.js a.md
markdownlint --config evil.js a.md
markdownlint --output a.txt a.md
markdownlint -o a.txt a.md
markdownlint-cli --rules ./x.js a.md
yamllint -d '{extends: .env}' .
jsonlint -i a.json
jsonlint --in-place a.json
jsonlint -V x a.json
hadolint --config .env Dockerfile
actionlint -shellcheck=./x
actionlint -shellcheck ./x
actionlint -pyflakes ./x
actionlint -pyflakes=./x
actionlint -init-config
vale sync
vale --output=x.tmpl a.md
vale --filter=x a.md
vale install
vale --ext=.md a.adoc
vale a.adoc
vale a.rst
write-good --checks=./x a.md
write-good --checks ./x a.md
typos -w
typos --write-changes
typos --file-list list
typos --dump-config x
typos --dump-config a.txt
ec -init
editorconfig-checker -init
dotenv-linter
dotenv-linter .env
dotenv-linter fix
dotenv-linter compare .env a
dotenv-linter check .
ruff check --fix .
ruff check --cache-dir x .
ruff check --output-file a.txt .
ruff check --add-noqa .
ruff check --watch .
ruff check --unsafe-fixes --fix
ruff check -o a.txt
ruff check --add-ignore .
ruff format --diff --cache-dir x
ruff analyze graph --python ./x
ruff check --stdin-filename=.env -
black --diff --stdin-filename .env -
black --check --python-cell-magics x .
isort --check-only --virtual-env evil .
isort --check-only --conda-env evil .
isort --check-only --sp evil .
isort --diff --formatter x .
isort -o x --check .
isort --diff --stdout --filename .env -
autopep8 --diff --global-config evil a.py
autopep8 -d --in-place a.py
autopep8 -i -d a.py
yapf -i -d a.py
autoflake --in-place --check a.py
autoflake -i --check a.py
autoflake --stdin-display-name x --check --in-place a.py
pyupgrade a.py
docformatter --check --in-place a.py
docformatter --check -i a.py
djlint --check --reformat .
djlint --check --configuration evil .
djlint --lint --rules-file x .
mdformat --check --extensions x a.md
taplo lint --schema https://x.example/s
taplo lint --schema file:///etc/passwd a.toml
taplo check --config evil a.toml
taplo check a.toml
taplo lint --cache-path x
taplo lint --schema-catalog https://x.example a.toml
"#;

/// Packages, services, facts about the system, and programs that run others.
const PACKAGES_SYSTEM_AND_WRAPPERS: &str = r#"
git config user.name list
git config core.pager get
pip config set global.index-url list
pip config edit list
bundle config path list
poetry config repositories.x list
pnpm config set list x
yarn config set get x
aws configure set list x
apt-mark hold showhold
kubectl config use-context view
kubectl config set-context get-contexts
conda config --set list x
rustup toolchain uninstall list
snap remove list
dnf install list
timedatectl set-time status
gsettings set a get
loginctl terminate-user status
printenv PATH AWS_SECRET
env "$k=v" git status
docker compose config
docker compose config --format json
docker --config evil version
docker compose -f evil.yml config --services
docker compose --env-file .env config
kubectl config view --raw
kubectl kustomize https://x.example/a
kustomize build --enable-exec .
kustomize build .
kubectl kustomize --load-restrictor LoadRestrictionsNone .
helm template chart --post-renderer=./x
ansible-inventory -i ./x --list
ansible-lint -r ./rules
ansible-doc --playbook-dir evil -t module x
ansible-doc -M evil x
ansible-config init --disabled
terraform fmt
terraform fmt -write=true -check=false
terraform graph -plan=x
terraform providers mirror x
terraform get
swiftlint lint --fix
npm run --prefix evil build
npm --script-shell ./x ls
npm explain x --cache y
npm pkg set a=b
npm pkg fix
npm version patch
npm completion >> a.txt
npm ls --node-options=--require=./x.js
npm --node-options=--require=./x.js ls
npm ls --logs-dir=x
pnpm ls --config.x=y
pnpm --config.script-shell=./x ls
pip --python ./x list
pip list --log x
pip --log a.txt list
pip list --outdated
pip freeze -r .env
pip list --index-url https://x.example
pip debug --platform x
pipx list --global
uv tree --python ./x
uv export -o a.txt
uv export --format requirements-txt --output-file a.txt
uv pip list --python ./x
uv pip list --target x
uv python find --script x.py
uv tree --index-url https://x.example
uv tree --default-index https://x.example
uv cache clean
poetry show --outdated
poetry config virtualenvs.path x
conda info --envs --unsafe-channels
gem list -r
gem list --config-file evil
gem contents --config-file x
gem which -r
gem environment --config-file evil
bundle config set path x
bundle config --local path x
bundle list
bundle show
composer show --latest
composer config repo x
apt list -o APT::Update::Pre-Invoke::=./x
apt -c evil list
apt-cache -o Dir::Bin=x policy
apt-cache dump -c evil
dpkg -l --pre-invoke=./x
dpkg-parsechangelog -l .env
dpkg-parsechangelog -F x
dpkg-architecture -c ./x
dpkg-architecture --command ./x
dpkg-vendor --derives-from x --file .env
rpm -qa --pipe ./x
rpm --eval '%(id)'
rpm -q --macros evil a
rpm -q --rcfile evil a
rpm -q --define '_x %(id)' a
rpm -q --load evil a
rpm -q --predefine x a
pacman -Q --hookdir evil
pacman -Qp ./a.pkg --logfile x
pacman -Q --gpgdir x
apk --root evil info
nix --option x y --version
mise settings set a b
mise settings a=b
curl --version -o a.txt
curl --help -K x
ssh -V -F evil
ssh -G -F evil host
ssh -Q cipher -F x
ssh-keygen -l -f .env
tcpdump -r a.pcap -w a.txt
tcpdump -r a.pcap -z ./x -w x -G 1
tshark -r a.pcap -X lua_script:x.lua
tshark -r a.pcap -w x
neofetch --config ./x
fastfetch -c ./x
fastfetch --gen-config x
inxi -y1 --output json --output-file a.txt
uname --config ./x
date -s tomorrow
date -f .env
htop -F x --readonly
glances --export csv
nmon -f
atop -w x
sar -o x 1
iostat -o JSON --human -g x
dstat --output x
pidstat -e ./x
pidstat -e ls
pmap -N x 1
lsof -D b
lsof -f -- .env
ss -K dst x
ss -F .env
ip -b x
ip -batch x
ip netns exec a ls
ip link set a up
arp -f .env
ethtool -f x
nmcli con up x
iw dev x set y
lshw -dump x
dmidecode --dump-bin x
dmidecode --from-dump .env
hwinfo --log=x
hwinfo --save-config=x
blkid -c x
stty -F /dev/sda
findmnt -F .env
findmnt --tab-file .env
sensors -s
sensors -c .env
nvidia-smi -r
nvidia-smi -f x
nvidia-smi -pl 100
journalctl --file .env
journalctl --cursor-file=a.txt
journalctl --vacuum-size=1
systemctl -H host status
systemctl status -H host
busctl call a b c d
coredumpctl debug
coredumpctl dump -o x
mount -a
mount -T .env
sysctl -p .env
sysctl -w a=b
sysctl a=b
sysctl kernel.x=1
xdg-mime default a b
chsh -s /bin/x
time -o a.txt ls
time -a -o a.txt ls
stdbuf -o0 ./x
timeout 1 ./x
strace -E LD_PRELOAD=./x.so ls
strace -o '|./x' ls
strace -o a.txt ls
ltrace -F evil ls
ltrace -l ./x.so ls
ltrace -o a.txt ls
perf stat --pre ./x ls
perf stat --post ./x ls
perf stat -o a.txt ls
perf stat --append -o a.txt ls
perf report --objdump=./x
perf report --addr2line=./x
perf script -s ./x.py
perf script ./x
perf script report x
perf annotate --objdump=./x
perf report -i .env
hyperfine --prepare ./x ls
hyperfine --export-json a.txt ls
hyperfine --reference ./x ls
hyperfine --shell ./x ls
hyperfine './x'
run-parts evil
xvfb-run -e a.txt ls
fakeroot -s a.txt ls
fakeroot -i .env ls
fakeroot -l ./x.so ls
fakeroot --lib ./x.so ls
fakeroot --faked ./x ls
proot -r evil ls
proot -q ./x ls
proot -b evil:/bin ls
fakechroot --use-system-libs ls
fakechroot -c evil ls
dbus-run-session --config-file=evil ls
dbus-run-session --dbus-daemon=./x ls
ccache -o compiler=./x gcc -v
ccache --set-config=compiler=./x
ccache -C
ccache -z
sccache --start-server
sccache --stop-server
distcc --show-hosts ./x
watch ./x
flock a.lock ./x
numactl --shm x ls
numactl -S x ls
systemd-inhibit --what=idle ./x
unbuffer -p ./x
setlock a.lock ./x
multitime -q -r ./x ls
multitime -i ./x ls
multitime -o ./x ls
multitime -b x
pexec -n x -o y ls
pexec -R -c -- ls
catchsegv ./x
scriptreplay -c ls a b
watchman --version -o x
column -t --output-width 5 .env
tshark -v
apt-get install --dry-run -o Dpkg::x=./y jq
hg --config extensions.x=./x.py status
hg status --config extensions.x=./x.py
hg cat -o a.txt x
hg diff --config extdiff.x=y
hg grep --all x --debugger
hg status --profile
hg help --debugger
svn status --config-dir evil
svn --config-option config:helpers:diff-cmd=./x diff
svn diff --diff-cmd ./x
svn diff --config-option=config:helpers:diff-cmd=./x
svn status --password x
svn propget x --targets .env
svn info --targets list
svn status -u
svn info https://x.example
svn diff -r 1:2
jj --config ui.pager=./x log
jj log --config ui.pager=./x
jj log --config-file evil
jj diff --tool ./x
jj log --tool ./x -p
jj file show .env
jj file chmod x a
jj file untrack a
jj file track a
jj tag set x
gh alias set x '!sh y'
gh config set pager ./x
gh config clear-cache
gh alias import x
"#;

/// Programs that load, fetch or include what a file of the workspace names, though they only seem to look.
const LOADS_FETCHES_OR_INCLUDES: &str = r#"
ldd ./a.out
ldd a.out
ldd -v build/x.so
ldd -r -- ./a.out
ldd /bin/ls ./a.out
ldd /usr/../home/x/a.out
ldd /tmp/a.out
lddtree ./a.out
cargo metadata
cargo metadata --format-version 1
cargo metadata --locked
cargo metadata --offline
cargo tree
cargo tree -i serde
cargo tree --offline
cargo tree --locked
cargo tree --locked --target all
cargo license
go list ./...
go list -m all
go list -m -json example.org/a
go list -deps ./...
go list -f '{{.Dir}}' example.org/a
go mod graph
go mod why example.org/a
go mod verify
uv tree
uv tree --locked
uv export
uv export --locked
hatch version
hatch project metadata
pixi list
pixi tree
composer diagnose
python3 -m py_compile a.py
python3 -m compileall .
python3 -m compileall -q src
python -m py_compile src/a.py
xmllint --noent a.xml
xmllint -noent a.xml
xmllint --noout --noent a.xml
xmllint --xinclude a.xml
xmllint --loaddtd a.xml
xmllint --dtdattr a.xml
xmllint --valid a.xml
xmllint --postvalid a.xml
xmllint --path x --loaddtd a.xml
xmllint --catalogs a.xml
xmllint --nocatalogs --noent a.xml
xmllint --testIO a.xml
xmllint --auto
xmllint --load-trace a.xml
xmllint --output README.md a.xml
xmllint -output README.md a.xml
xmllint -o README.md a.xml
xmllint --format --output=README.md a.xml
xmllint http://x.example/a.xml
xmllint ftp://x.example/a.xml
xmllint --schema http://x.example/a.xsd a.xml
xmllint --relaxng http://x.example/a.rng a.xml
xmllint --dtdvalid http://x.example/a.dtd a.xml
xmllint --dtdvalidfpi x a.xml
xmlstarlet sel -t -v 'document(".env")' a.xml
xmlstarlet sel -t -c 'document("b.xml")' a.xml
xmlstarlet tr a.xsl a.xml
xmlstarlet ed -L -d //a a.xml
xmlstarlet fo --dropdtd --noindent -o a.xml
xmlstarlet val --net a.xml
xmlstarlet val -s http://x.example/a.xsd a.xml
xml tr a.xsl a.xml
xsltproc --nonet --nowrite a.xsl a.xml
awk -o '{ print }' a.txt
awk -p '{ print }' a.txt
awk -d '{ print }' a.txt
gawk -no '{ print }' a.txt
gawk -oREADME.md '{ print }' a.txt
gawk --profile '{ print }' a.txt
gawk --pretty-print '{ print }' a.txt
gawk --pretty '{ print }' a.txt
gawk --dump-variables '{ print }' a.txt
gawk --dump-var '{ print }' a.txt
gawk --dump-variables=README.md '{ print }' a.txt
objdump -S a.o
objdump -dS a.o
objdump --source a.o
objdump --source-comment='# ' a.o
openssl req -config x -noout
openssl req -noout -text -config x -in a.csr
tldr --update
tldr -u
cheat -e tar
cheat --edit tar
cheat --rm tar
cheat --init
lolcat .env
fortune .env
yarn root
yarn ls
bun list
bun bin
bun licenses
bun config list
bun why react
hatch list
rye about
pixi version
npm get //r.example/:_authToken
pnpm config get //r.example/:_authToken
yarn config get npmAuthToken
git config --get http.extraheader
git config --get http.extraHeader
git config --get-all http.https://x.example/.extraheader
git config get http.extraheader
git config http.extraheader
git config --get sendemail.smtpPass
git config imap.pass
git config --get github.token
git config get --all user.password
git config --get-urlmatch http.extraheader https://x.example
git config --get-regexp extraheader
git config --get-regexp 'http\..*\.extraheader'
git config --get-regexp token
gh config get oauth_token
gh config get -h x.example oauth_token
hg config
hg showconfig auth
pip config list
pip config get global.index-url
conda config --show
poetry config --list
composer config --list
"#;

/// Options that a program takes beside those in its help, folders that it works in, and what it prints of variables.
const HIDDEN_OPTIONS_AND_FOLDERS: &str = r#"
find . -execdir git status \;
find . -name x -execdir cargo --version \;
find src -execdir yarn --version \;
find . -okdir git log \;
find . -name x -execdir cat ../../.env \;
find . -execdir cat .env \;
find . -execdir ./x \;
find . -execdir python3 -m json.tool {} \;
git rev-list --output=x HEAD
git rev-list --outpu=x HEAD
git rev-list --output x HEAD
git blame --output=x a.txt
git annotate --output=x a.txt
git cherry --output=x
git fast-export --output=x HEAD
git bundle create new.bundle --output=x HEAD
git rev-list --frobnicate HEAD
git status --frobnicate
git blame --ext-diff a.txt
git --work-tree=/etc status
git --work-tree=/etc diff
git --work-tree /proc/self status
git --work-tree=/proc/self diff
git --work-tree=../other status
git bugreport
git diagnose
jq '$ ENV' a.txt
jq '$	ENV.HOME' a.txt
jq '$__loc__' a.txt
npm config get registry
npm config list
npm config ls -l
npm c get x
npm get registry
pnpm config get registry
yarn config list
npm_config_logs_dir=x npm ls
NPM_CONFIG_LOGS_DIR=x npm ls
npm_config_cache=x npm ls
mktemp ../x.XXXX
mktemp ~/x.XXXX
mktemp .git/hooks/XXXX
mktemp /etc/x.XXX
fd -xrm
fd x -xrm
fd -Hx rm
fd -X=rm
fd x -x git -C .. status
fd . --base-directory .. -x cat a.txt
fd . --base-directory=../o
fd . -C ../o -x cat a.txt
n=$(grep -c x a.txt 2>&1); echo $((n))
n=$(grep -c x a.txt 2>&1); head -n $n a.txt
n=$(wc -l < a.txt 2>&1); echo $((n))
n=$(grep -c x a.txt |& cat); echo $((n))
n=$(grep -c x a.txt &>/dev/stdout); echo $((n))
n=$(grep -c x a.txt 2>/dev/stdout); echo $((n))
n=$({ grep -c x a.txt; } 2>&1); echo $((n))
exec 2>&1; n=$(grep -c x a.txt); echo $((n))
[ "$GITHUB_TOKEN" -eq 1 ]
[ 1 -lt "$GITHUB_TOKEN" ]
test "$GITHUB_TOKEN" -gt 1
[ -t "$GITHUB_TOKEN" ]
[ x "$GITHUB_TOKEN" y ]
echo $SSHPASS
echo $MY_TOKEN
echo "$HTTP_PROXY"
echo $https_proxy
echo $PIP_INDEX_URL
echo ${PIP_EXTRA_INDEX_URL:-none}
cat =(ls)
cat *(e:'rm x':)
ls **/*(.e['x'])
ls *(+f)
ls *(eXlsX)
echo ?(N) *(e{ls})
"#;

/// What people and models do all day.
const EVERYDAY: &str = r#"
find . -name '*.rs' -execdir wc -l {} +
find . -execdir cat {} \;
git rev-list --count HEAD
git rev-list -n 5 --first-parent HEAD
git log --oneline -n 5 --graph --stat --no-merges --since=yesterday
git log -p -2 -w --ignore-blank-lines --no-ext-diff
git diff --cached --name-only --diff-filter=ACM
git show --stat --format=fuller HEAD
git blame -w -C -M --line-porcelain a.txt
git status -sb --porcelain=v2 --untracked-files=all
git branch -avv --sort=-committerdate --format='%(refname)'
git tag -l --sort=-v:refname
git diff -M50%
git diff -C50% --stat
git diff -I'^#'
git show -M90%
git log -M50% --stat
git shortlog -w80,4,6
git ls-files -mo --exclude-standard
git status -uno
git stash show -p -M50%
git range-diff -M50% a b c
git ls-files '*.rs' | xargs grep -n todo_list
make -C src --version
mktemp src/new.XXXX
fd -e rs -x wc -l {}
fd -tf foo src
fd . --base-directory=src
n=$(grep -c x a.txt 2>/dev/null); echo $((n))
ls 2>&1 | head -n 5
[ -n "$GITHUB_TOKEN" ]
[ "$GITHUB_TOKEN" = x ]
[ -z "$HTTP_PROXY" ]
[[ $x == +([0-9]) ]]
case $x in @(a|b)) ls ;; esac
ls !(a|b)
ls
ls -la
ls -lah src
ls -1 *.rs
ls *
ls -ltr | tail -5
ls -d */
cat *.rs
cat -A a.txt
cat a.txt b.txt | sort | uniq -c | sort -rn | head -20
head -n 50 src/main.rs
tail -f -n 100 a.log
tail -n +10 a.txt
wc -l src/*.rs
wc -c a.txt
wc -lw *
find . -name '*.rs' -not -path './target/*'
find . -maxdepth 2 -type d
find src -name '*.rs' | xargs wc -l
find . -type f -newer a.txt -print
grep -rn "FIXED" src
grep -rniE 'foo|bar' --include='*.rs' .
grep -c foo a.txt
grep -v '^#' a.txt
grep -A3 -B3 foo a.txt
grep -rl foo . | head
grep -oP '\d+' a.txt
grep --color=never -rn foo src
rg foo
rg -n foo src
rg -uu --hidden foo
rg -t rust -l foo
rg -A 5 -B 2 'fn main' src
rg --files | head
rg -c foo --sort path
rg --json foo
rg -U 'a\nb' src
sort a.txt
sort -u a.txt
sort -k2,2n -t, a.csv
sort *
uniq -c a.txt
cut -d, -f1,2 a.csv
tr -d '\n' < a.txt
sed -n '1,20p' a.txt
sed 's/a/b/g' a.txt
awk '{print $1}' a.txt
awk -F: '{ sum += $2 } END { print sum }' a.txt
awk 'NR==FNR{a[$1];next} $1 in a' a.txt b.txt
diff a.txt b.txt
diff -u a.txt b.txt
diff -r src docs
diff --color=always -u a.txt b.txt
cmp a.txt b.txt
comm -12 a.txt b.txt
paste -sd, a.txt
column -t a.txt
nl -ba a.txt
tac a.txt
rev a.txt
fold -s -w 80 a.txt
fmt -w 72 a.txt
tree
tree -L 2
tree -I 'node_modules|target' -L 3 --dirsfirst
tree -a -C
du -sh .
du -sh * | sort -h
du -ah --max-depth=1
df -h
stat a.txt
file a.txt
file -bi a.txt
file *
pwd
which python3
type ls
command -v git
echo hello
printf '%s\n' a b
date
date +%Y-%m-%d
date -u -Iseconds
uname -a
whoami
id
hostname
uptime
nproc
free -h
free -m
ps aux
ps aux | grep node
ps -ef --forest
pgrep -fl node
top -bn1 | head -20
lsof -nP -i :8080
lsof -nP -iTCP -sTCP:LISTEN
ss -tlnp
netstat -tulpn
ip a
lscpu
lsblk
git status
git status -sb
git status --porcelain=v2 --branch
git log --oneline -20
git log --oneline --graph --all --decorate
git log -p -1
git log --stat -3
git log --since='2 weeks ago' --author=me --pretty=format:'%h %s'
git log --follow -- src/main.rs
git log -S foo --oneline
git log --name-only -1
git log main..HEAD --oneline
git diff
git diff --cached
git diff --staged --stat
git diff HEAD~1
git diff main...HEAD
git diff --name-only HEAD~3
git diff -w --word-diff
git diff -U10 src/main.rs
git diff --no-color --no-ext-diff
git show
git show --stat HEAD
git show HEAD:src/main.rs
git show --name-only --format= HEAD
git blame src/main.rs
git blame -L 10,20 -w src/main.rs
git branch
git branch -a
git branch -vv
git branch --show-current
git branch -r --sort=-committerdate
git tag
git tag -l 'v*' --sort=-v:refname
git remote -v
git stash list
git stash show -p
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git ls-files
git ls-files --others --exclude-standard
git ls-tree -r HEAD --name-only
git grep -n foo
git grep -nE 'foo|bar' -- '*.rs'
git shortlog -sne
git describe --tags --always
git reflog -10
git config --get remote.origin.url
git config --list
git merge-base main HEAD
git rev-list --count HEAD
git for-each-ref --sort=-committerdate refs/heads --format='%(refname:short)'
git cat-file -p HEAD
git check-ignore -v a.txt
git worktree list
git submodule status
git diff --stat main -- src docs
git add -A
git add src/main.rs
git --no-pager log -5
git -C src status
jq . a.json
jq -r '.name' package.json
jq -c '.[]' a.json
jq -s 'add' a.json b.json
jq --arg x 1 '.a == $x' a.json
yq '.a' a.yaml
yq -r '.a[]' a.yaml
xxd a.bin | head
hexdump -C a.bin | head
od -An -tx1 a.bin
strings a.bin | head
md5sum a.txt
sha256sum a.txt
base64 a.txt
base64 -w0 a.txt
mkdir -p new/dir
touch new.txt
cp a.txt new-copy.txt
cp -r src new-src
tar tzf a.tar.gz
tar -tvf a.tar
tar czf new.tar.gz src
tar --exclude=target -czf new.tgz src
unzip -l a.zip
zip -r new.zip src
zcat a.gz | head
gzip -l a.gz
gzip -dc a.gz
xz -dc a.xz | head
zstd -dc a.zst | head
cargo --version
cargo tree --frozen
cargo tree -i serde --offline --locked
cargo tree --frozen -d
cargo tree --frozen --depth 1 -e normal
cargo tree --frozen -p serde --no-dedupe
cargo metadata --format-version 1 --no-deps
cargo metadata --format-version=1 --no-deps --offline
cargo fmt --check
cargo fmt --all -- --check
rustc --version
rustc -vV
rustc --print cfg
rustfmt --check src/main.rs
rustfmt --check --edition 2024 src/main.rs
rustup show
rustup toolchain list
node --version
node -v
node --check a.js
npm --version
npm ls
npm ls --depth=0
npm ls --all --json
npm run
npx --version
python3 --version
python3 -V
python3 -m json.tool a.json
pip list
pip list --format=json
pip show requests
pip freeze
pip --version
uv --version
uv tree --frozen
uv pip list
go version
go env
go env GOPATH GOMODCACHE
go list -m
go list -mod=vendor ./...
go doc fmt.Println
gofmt -l .
gofmt -d main.go
ruff check .
ruff check --select E,F src
ruff format --check .
black --check --diff src
isort --check-only .
yamllint .
yamllint -s .
shellcheck run.sh
shellcheck -x -s bash run.sh
tsc --noEmit
tsc --noEmit -p tsconfig.json
tsc --version
docker --version
docker compose config --services
kubectl version --client
kubectl config current-context
helm version
helm template release docs -f values.yaml
helm template docs --set a=b -n ns
terraform fmt -check -recursive
terraform fmt -check -diff
make --version
cmake --version
gcc --version
gcc -dumpmachine
java -version
javap -c Main.class
mvn -v
dpkg -l
dpkg -l | grep foo
dpkg -L bash
apt list --installed
apt-cache policy bash
apt show bash
brew list
man ls
man 3 printf
man -k socket
man git-log
gpg --version
gpg --version
openssl version
openssl x509 -in cert.pem -noout -text
openssl x509 -in cert.pem -noout -enddate
openssl dgst -sha256 a.bin
pandoc -t plain README.md
pandoc -f markdown -t html README.md
dot -Tsvg a.dot -o new.svg
ffprobe -v error -show_streams a.mp4
ffprobe -hide_banner a.mp4
exiftool a.jpg
cloc .
tokei src
tokei
timeout 10 ls
time ls
nice -n 10 ls
nohup ls
xargs -n1 echo < a.txt
ls | xargs -I{} echo {}
ls | wc -l
seq 1 10
sleep 1
true
basename src/main.rs .rs
dirname src/main.rs
realpath src
readlink -f src
journalctl -u ssh -n 50 --no-pager
systemctl status ssh
systemctl list-units --type=service --no-pager
dmesg | tail
last -5
getent passwd root
nm -C a.o | head
objdump -d a.o | head
readelf -h a.out
size a.out
ldd /bin/ls
cpp --version
less README.md
bat a.txt
bat -p --color=never a.txt
bat -r 1:20 a.txt
eza -la
eza --tree --level=2
fd main
fd -e rs
fd -t f -H
delta a.txt b.txt
difft a.rs b.rs
hyperfine --version
strace -c ls
strace -f -e trace=file ls
perf stat ls
watch -n 1 ls
column -t -s, a.csv
join -t, a.csv b.csv
shuf -n 1 a.txt
split --version
iconv -f latin1 -t utf-8 a.txt
bc <<< '1+2'
expr 1 + 1
numfmt --to=iec 1024
cal
locale
ctags --version
hg status
hg log -l 5
svn status
svn diff
jj log --ignore-working-copy -n 5
jj st --ignore-working-copy
gh --version
helm template docs
helm lint docs
"#;

/// A file whose name is an option, and a command that finds it by a pattern.
const NAMED_LIKE_OPTIONS: &[(&str, &str)] = &[
    ("--output=notes.txt", "sort *"),
    ("-onotes.txt", "sort -u *"),
    ("--compress-program=x", "sort *"),
    ("--files0-from=x", "wc -l *"),
    ("--checkpoint-action=exec=sh x", "tar cf new.tar *"),
    ("--use-compress-program=x", "tar -tf *"),
    ("-I", "tar cf new.tar *"),
    ("-delete", "find * -name x"),
    ("--pre=x", "rg foo *"),
    ("--output=notes.txt", "git diff *"),
    ("--output=notes.txt", "git log *"),
    ("--open-files-in-pager=x", "git grep foo *"),
    ("--output=notes.txt", "shuf *"),
    ("-o", "tree *"),
    ("-i", "sed s/a/b/ *"),
    ("--in-place", "sed s/a/b/ *"),
    ("--pager=x", "ack foo *"),
    ("-kx", "less *"),
    ("--plugin=x", "nm *"),
    ("@words", "nm *"),
    ("@words", "tar cf new.tar *"),
    ("--files-from=x", "file *"),
    ("--load=x", "clang-tidy *"),
    ("--fix", "ruff check *"),
    ("-w", "gofmt *"),
    ("--random-source=.env", "shuf *"),
];

/// Commands for which a file whose name begins with a dash is no option.
const SAFE_BESIDE_SUCH_NAMES: &[&str] = &[
    "sort -- *",
    "sort ./*",
    "sort src/*",
    "sort *.txt",
    "ls *",
    "cat *",
    "grep foo *",
    "wc -l ./*",
    "cd src && sort *",
    "for f in ./*; do sort \"$f\"; done",
];

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty())
}

#[test]
fn an_option_that_runs_writes_sends_or_reads_a_list_is_never_allowed() {
    let tables = [
        LANGUAGES_AND_VERSION_CONTROL,
        DOCUMENTS_AND_LISTS,
        ARCHIVES_AND_CHECKERS,
        PACKAGES_SYSTEM_AND_WRAPPERS,
        LOADS_FETCHES_OR_INCLUDES,
        HIDDEN_OPTIONS_AND_FOLDERS,
    ];
    let commands: Vec<&str> = tables.iter().flat_map(|table| lines(table)).collect();
    let allowed: Vec<&&str> = commands.iter().filter(|command| decision(command) == Allow).collect();

    assert!(commands.len() > 600);
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn everyday_commands_are_not_asked_about() {
    let commands: Vec<&str> = lines(EVERYDAY).collect();
    let asked: Vec<&&str> = commands.iter().filter(|command| decision(command) != Allow).collect();

    assert!(commands.len() > 300);
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn a_file_whose_name_is_an_option_is_one_where_a_pattern_finds_it() {
    let mut wrong = Vec::new();
    for (name, command) in NAMED_LIKE_OPTIONS {
        let looped = format!("for f in *; do {}; done", command.replace('*', "\"$f\""));
        let piped = format!("ls | xargs {}", command.replace(" *", ""));
        let found = [command.to_owned(), &looped, &piped]
            .map(|command| (decision_beside(&[name], command), command.to_owned()));
        let made = format!("touch -- '{name}'; {command}");
        wrong.extend([(decision(&made), made)].into_iter().chain(found).filter(|(decision, _)| *decision == Allow));
        wrong.extend(
            [(decision(command), (*command).to_owned())].into_iter().filter(|(decision, _)| *decision != Allow),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for command in SAFE_BESIDE_SUCH_NAMES {
        assert_eq!(decision_beside(&["--output=README.md", "-o"], command), Allow, "{command}");
    }
}

#[test]
fn a_word_that_is_no_action_does_not_make_an_action_harmless() {
    for command in
        ["git config user.name list", "pip config set a list", "bundle config path get", "apt-mark hold showhold"]
    {
        assert_ne!(decision(command), Allow, "{command}");
    }
}

#[test]
fn a_program_is_fetched_only_where_no_file_has_its_name() {
    assert_eq!(decision("helm template chart"), Ask);
    assert_eq!(decision_beside(&["chart/Chart.yaml"], "helm template chart"), Allow);
    assert_eq!(decision_beside(&["chart/Chart.yaml"], "helm show values chart"), Allow);
}

#[test]
fn names_that_come_through_a_pipe_are_read_with_hidden_ones_where_they_are_printed() {
    let prints =
        ["ls -a", "ls -A", "ls -la", "ls --all", "ls -A .", "ls -a | grep env", "ls -a | sort | tail -1", "eza -a"];
    for print in prints {
        for read in [
            format!("{print} | xargs cat"),
            format!("cat $({print})"),
            format!("{print} | while read -r f; do cat \"$f\"; done"),
            format!("{print} | xargs -I{{}} cp {{}} new"),
        ] {
            assert_ne!(decision_beside(&[".env"], &read), Allow, "{read}");
        }
    }
    for read in ["ls | xargs cat", "ls src | xargs wc -l", "ls -a | wc -l", "ls -a | xargs ls -d", "ls -la | grep main"]
    {
        assert_eq!(decision_beside(&[".env"], read), Allow, "{read}");
    }
    for pack in [
        "find . | cpio -o",
        "find . | cpio -pd new",
        "find . | pax -w",
        "ls -a | zip new.zip -@",
        "tar cf new.tar -T list",
    ] {
        assert_ne!(decision(pack), Allow, "{pack}");
    }
}

#[test]
fn a_variable_whose_name_is_known_only_when_it_runs_is_asked_about() {
    for set in [
        "declare -g \"$n=x\"",
        "declare -gx \"$n=x\"",
        "export \"$n\"=x",
        "readonly \"$n=x\"",
        "printf -v \"$n\" x",
        "read -r \"$n\" <<< x",
        "mapfile -t \"$n\" <<< x",
        "declare -n r=\"$n\"; r=x",
        "getopts a \"$n\"",
        "wait -p \"$n\"",
    ] {
        for after in ["ls", "git status", "x=ls; $x"] {
            assert_ne!(decision(&format!("{set}; {after}")), Allow, "{set}; {after}");
        }
    }
    for command in ["env \"$n=x\" git status", "env A=1 \"$n=x\" ls", "env \"$n$m=x\" ls"] {
        assert_ne!(decision(command), Allow, "{command}");
    }
    assert_eq!(decision("env A=\"$n\" ls"), Allow);
}
