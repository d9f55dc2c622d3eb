import { posix } from 'node:path';

/** Programs that run tests or build them, and the files that configure them or that they load before the tests. */
const STEERING: readonly (readonly [runner: RegExp, files: RegExp])[] = [
  [
    /^(?:npm|npx|yarn|pnpm|pnpx|bun|bunx|node|nodejs|deno|tsx|ts-node|vitest|jest|mocha|ava|tap|playwright|cypress|karma|tsc|eslint|react-scripts|nx|turbo|lerna|rush)$/,
    /(?:^|\/)(?:\.npmrc|\.yarnrc[^/]*|\.yarn\/.*|\.pnp\.[^/]*|\.pnpmfile\.[cm]?js|pnpm-workspace\.yaml|bunfig\.toml|deno\.jsonc?|(?:nx|turbo|lerna|rush|angular)\.json|\.(?:mocha|nyc|c8|babel|swc|tap|eslint)rc[^/]*|(?:vitest|vite|jest|mocha|karma|playwright|cypress|ava|babel|webpack|rollup|eslint|swc|tap|wdio)\.(?:config|conf|setup|workspace|global)[^/]*|setupTests\.[^/]*|tsconfig[^/]*\.json|__mocks__\/.*)$/,
  ],
  [
    /^(?:python[\d.]*|pytest|py\.test|tox|nox|uv|poetry|hatch|pdm|pipenv|unittest)$/,
    /(?:^|\/)(?:conftest\.py|pytest\.ini|\.?pytest\.toml|tox\.ini|setup\.(?:cfg|py)|pyproject\.toml|noxfile\.py|(?:site|user)customize\.py|\.coveragerc|[^/]+\.pth|(?:_?pytest|pluggy|unittest|doctest|nose2?|tox|nox|coverage|runpy|site)(?:\.py|\/.*))$/,
  ],
  [
    /^(?:cargo|rustc)$/,
    /(?:^|\/)(?:Cargo\.toml|build(?:\.rs|\/.*\.rs)|\.cargo\/config[^/]*|\.config\/nextest\.toml|rust-toolchain[^/]*)$/,
  ],
  [/^go$/, /(?:^|\/)(?:go\.mod|go\.work|vendor\/.*)$/],
  [
    /^(?:g?make|just|task|rake)$/,
    /(?:^|\/)(?:gnumakefile|makefile|[^/]+\.mk|\.?justfile|taskfile(?:\.dist)?\.ya?ml|rakefile)$/i,
  ],
  [
    /^(?:mvnw?|gradlew?|ruby|rspec|bundle|php|phpunit|composer|dotnet|sbt)$/,
    /(?:^|\/)(?:pom\.xml|[^/]+\.gradle(?:\.kts)?|gradle\.properties|gradle\/.*|\.mvn\/.*|build\.sbt|project\/.*\.(?:sbt|scala|properties)|\.rspec|spec_helper\.rb|Gemfile|phpunit\.xml[^/]*|composer\.json|Directory\.Build\.\w+|[^/]+\.(?:runsettings|csproj|fsproj|vbproj|props|targets)|(?:global|nuget)\.(?:json|config))$/,
  ],
  [
    /^(?:cmake|ctest|ninja|meson|bazel|bazelisk|mix|zig|swift|cabal|stack|dart|flutter|docker|podman)$/,
    /(?:^|\/)(?:CMakeLists\.txt|CMakePresets\.json|[^/]+\.cmake|meson\.build|BUILD(?:\.bazel)?|WORKSPACE(?:\.bazel)?|MODULE\.bazel|\.bazelrc|[^/]+\.bzl|mix\.exs|build\.zig|Package\.swift|[^/]+\.cabal|stack\.yaml|dart_test\.yaml|pubspec\.yaml|(?:Docker|Container)file[^/]*|(?:docker-)?compose[^/]*\.ya?ml)$/,
  ],
];
/** Files that can steer any command: variables, tool versions, git hooks, how git writes files. */
const STEERING_ANY =
  /(?:^|\/)(?:\.env[^/]*|\.gitattributes|\.tool-versions|\.?mise\.toml|\.(?:husky|githooks)\/.*|lefthook\.ya?ml|\.pre-commit-config\.yaml)$/;

/** Whether a program runs tests and reads configuration that is known. */
export function isRunner(program: string): boolean {
  return STEERING.some(([runner]) => runner.test(program));
}

/** Whether a path is configuration of a runner: of one of these programs, or by default of any. */
export function isSteeringPath(path: string, programs?: readonly string[]): boolean {
  return (
    STEERING_ANY.test(path) ||
    STEERING.some(
      ([runner, files]) => files.test(path) && (programs === undefined || programs.some((name) => runner.test(name))),
    )
  );
}

/** Keys of configuration whose values name what a runner loads before the tests. */
const LOADING =
  /^(?:setup\w*|global(?:Setup|Teardown)|require|import|from|reporters?|\w*environment|presets?|transform\w*|extends|plugins?|runner|testRunner|resolver|loaders?|snapshot\w*|pytest_plugins)$/i;
/** A key with one or more values. All parts are bounded, because an agent can write the text. */
const VALUES =
  /(?<![\w-])([\w-]{1,50})["']?\s{0,20}[:=(]{0,2}\s{0,20}(?:-\s{1,20}|\[\s{0,20}){0,5}((?:["'][^"'\n]{1,300}["']\s{0,20}(?:,|-\s)?\s{0,20}){1,50})/g;
/** A value without quotes, as in YAML. */
const PLAIN_VALUE = /^([ \t]{0,50}(?:- {1,20})?(?:[\w-]{1,50}: {1,20})?)([\w@./-]{1,300})$/gm;

/** Lists the files that a runner's configuration loads, as paths in the repository; their endings may be missing. */
export function listLoaded(path: string, text: string): readonly string[] {
  const quoted = /\.ya?ml$|rc$/.test(path) ? text.replaceAll(PLAIN_VALUE, "$1'$2'") : text;
  const names = [...quoted.matchAll(VALUES)].flatMap(([, key = '', values = '']) =>
    LOADING.test(key) ? [...values.matchAll(/["']([^"'\n]+)["']/g)].map(([, name = '']) => name) : [],
  );
  return names
    .map((name) => name.replace('<rootDir>/', ''))
    .flatMap((name) => [posix.join(posix.dirname(path), name), posix.normalize(name)]);
}

/** The scripts that an installation runs. */
const INSTALL = ['install', 'prepublish', 'prepare'];

/** The scripts that package managers run, if they are not named like the command. */
const LIFECYCLE: Readonly<Record<string, readonly string[]>> = {
  t: ['test'],
  tst: ['test'],
  ci: INSTALL,
  i: INSTALL,
  install: INSTALL,
  add: INSTALL,
  it: [...INSTALL, 'test'],
  cit: [...INSTALL, 'test'],
  'install-test': [...INSTALL, 'test'],
  'install-ci-test': [...INSTALL, 'test'],
};

/** Lists the scripts in `package.json` that a command of a package manager runs. */
export function listLifecycle(command: string): readonly string[] {
  return Object.hasOwn(LIFECYCLE, command) ? (LIFECYCLE[command] ?? []) : [command];
}
