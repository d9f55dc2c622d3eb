import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { makeFolder } from '../../../test/temporary-folder.js';
import { startFaultyServer } from '../sinks/fixtures/faulty-server.js';
import { createGitHubSink } from '../sinks/github-sink.js';
import type { Checks } from '../proof/checks.js';
import type { Sink } from '../sinks/sink.js';
import type { Decision } from '../../store/records/index.js';
import { setUpWorker } from './fixtures/set-up-worker.js';
import { waitForOrder } from './wait-for-order.js';

/*
 * Agents that lie about their work, each a shell script. None advances if proof is required; if a report is enough,
 * only claims that could not be checked advance.
 */

/**
 * Functions that the scripts share: `report COMMIT` writes a successful result, `pr` reports a pull request instead.
 */
const SHARED = `
set -e
git() { command git -c user.name=liar -c user.email=liar@example.org -c protocol.file.allow=always "$@"; }
result() { printf '{"issue_ref":"%s","run_id":"%s","status":"ok","changes":%s,"tests":{"command":"sh check.sh","result":"pass","evidence":"all green"},"summary":"Done."}' "$SLUICE_ISSUE_REF" "\${RUN:-$SLUICE_RUN_ID}" "$1" > "$SLUICE_RUN_DIR/work_result.json"; }
report() { result "{\\"commit\\":\\"$1\\"}"; }
pr() { result "{\\"pr\\":\\"$1\\"}"; }
commit() { git add -A; git commit -q -m Work "$@"; }
work() { echo "$RANDOM $SLUICE_RUN_ID" > src/work.txt; commit; }
`;

interface Lie {
  readonly script: string;
  readonly policy?: 'proven' | 'reported';
  readonly isolation?: 'repository' | 'worktree';
  readonly order?: Readonly<Record<string, unknown>>;
  /** Changes the repository before the order is submitted. */
  readonly before?: (git: (...args: readonly string[]) => string, repository: string) => Promise<void> | void;
  readonly secrets?: readonly string[];
  readonly sinks?: readonly Sink[];
  readonly checks?: Checks;
}

/** The number of random git configurations to try; `npm run torture` sets a higher number. */
const GIT_CONFIGURATIONS = Number(process.env['GIT_CONFIGURATIONS'] ?? 2);

/** Settings that can make git run a command. */
const GIT_TRICKS = [
  'filter.evil.smudge',
  'filter.evil.clean',
  'filter.evil.process',
  'core.fsmonitor',
  'core.sshCommand',
  'core.askPass',
  'core.gitProxy',
  'core.alternateRefsCommand',
  'core.editor',
  'sequence.editor',
  'core.pager',
  'pager.log',
  'diff.external',
  'diff.evil.command',
  'diff.evil.textconv',
  'merge.evil.driver',
  'interactive.diffFilter',
  'credential.helper',
  'gpg.program',
  'gpg.ssh.program',
  'trailer.evil.command',
  'uploadpack.packObjectsHook',
  'remote.origin.uploadpack',
  'remote.origin.vcs',
  'alias.worktree',
  'alias.commit-tree',
  'init.templateDir',
  'browser.evil.cmd',
];

/** Submits an order for a lying agent, and returns the decision and the repository. */
async function executeLie(lie: Lie) {
  const { script, policy, isolation = 'repository', order = {}, before, secrets = [], sinks } = lie;
  const { checks = { unit: { command: ['sh', 'check.sh'], timeout_s: 20 } } } = lie;
  const wrapper = {
    type: 'script',
    command: ['/bin/bash', '-c', `${SHARED}\neval "$SLUICE_INSTRUCTIONS"`],
    inject: 'env',
    env: ['LIE'],
    ...(policy === undefined ? {} : { policy: { evidence: policy } }),
  } as const;
  const { data, store, lead, start, submit, settled } = await setUpWorker({
    lead: {
      wrappers: { liar: wrapper },
      checks,
      secrets: { patterns: secrets },
      ...(sinks === undefined ? {} : { sinks }),
    },
  });
  const repository = join(data, 'repository');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', '-C', repository, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  for (const folder of ['src', 'tests']) await mkdir(join(repository, folder));
  await writeFile(
    join(repository, 'check.sh'),
    'test ! -e src/broken && { test -f src/work.txt || test -n "$LIE"; }\n',
  );
  await writeFile(join(repository, 'src/a.txt'), 'a\n');
  await writeFile(join(repository, 'tests/basket.sh'), 'true\n');
  git('init', '--quiet', '--initial-branch=main');
  git('add', '.');
  git('commit', '--quiet', '-m', 'Begin');
  await before?.(git, repository);
  start({ runs: { data, environment: { ...process.env, LIE: 'yes' } } });
  const request = { worker: 'liar', instructions: script, isolation, ...order };
  const submitted = await submit('acme/shop#1', {}, request);
  const record = await settled(submitted);
  return { data, git, store, lead, record, submitted, decision: record?.decision };
}

function show(decision: Decision | null | undefined): string {
  const unconfirmed = decision?.evidence?.filter(({ verdict }) => verdict !== 'confirmed') ?? [];
  const facts = unconfirmed.map(({ claim, by, verdict, detail }) => `${claim} ${verdict} by ${by}: ${detail}`);
  return [`${decision?.action} ${decision?.result_code}`, ...facts].join('\n');
}

const PROVEN = { policy: 'proven', order: { checks: ['unit'] } } as const;
const CONTRADICTED = /^needs-human evidence_contradicted\n/;

describe('an honest agent', { timeout: 60_000 }, () => {
  it('advances, proven', async () => {
    const { decision } = await executeLie({ ...PROVEN, script: 'work; report $(git rev-parse HEAD)' });
    expect(show(decision)).toMatch(/^advance none/);
    expect(decision?.evidence?.map(({ claim, by, verdict }) => `${claim} ${by} ${verdict}`)).toEqual([
      'result sluice confirmed',
      'commit sluice confirmed',
      'paths sluice unchecked',
      'tests sluice confirmed',
      'tests worker unchecked',
    ]);
  });

  it('advances, proven, if it only leaves its changes in its worktree', async () => {
    const script = 'echo x > src/work.txt; result "{}"';
    const { decision, record, git } = await executeLie({ ...PROVEN, isolation: 'worktree', script });
    expect(show(decision)).toMatch(/^advance none/);
    expect(git('show', '--format=%an', record?.result?.changes.commit ?? '')).toContain('sluice\n');
  });
});

/** Each lie, and the expected verdict under both policies. */
const LIES: readonly [name: string, expected: RegExp, lie: Omit<Lie, 'policy'>][] = [
  [
    'names the commit that was already HEAD',
    /commit contradicted .*existed before/,
    { script: 'report $(git rev-parse HEAD)' },
  ],
  [
    'names the commit that was already HEAD of its worktree',
    /commit contradicted .*existed before/,
    { script: 'report $(git rev-parse HEAD)', isolation: 'worktree' },
  ],
  [
    'invents a commit',
    /commit contradicted .*has no commit 1234567890ab/,
    { script: 'report 1234567890abcdef1234567890abcdef12345678' },
  ],
  [
    'names the commit of another branch',
    /commit contradicted .*1 of 1 commits from other branches/,
    {
      script: 'report $(git rev-parse other)',
      before: (git) => {
        git('checkout', '-q', '-b', 'other');
        git('commit', '-q', '--allow-empty', '-m', 'Other');
        git('checkout', '-q', 'main');
      },
    },
  ],
  [
    'names a commit of another repository',
    /commit contradicted .*does not descend/,
    {
      script: `git init -q ../stolen; cd ../stolen; echo y > y; commit; c=$(git rev-parse HEAD); cd ../repository
        git fetch -q ../stolen HEAD; git branch stolen $c; report $c`,
    },
  ],
  [
    'makes an empty commit',
    /commit contradicted .*changes no file/,
    { script: 'git commit -q --allow-empty -m Work; report $(git rev-parse HEAD)' },
  ],
  [
    'presents a merge of upstream as its work',
    /commit contradicted .*1 of 2 commits from other branches/,
    {
      script: 'git merge -q --no-ff -m Merge upstream; report $(git rev-parse HEAD)',
      before: async (git, repository) => {
        git('checkout', '-q', '-b', 'upstream');
        await writeFile(join(repository, 'src/work.txt'), 'theirs\n');
        git('add', '.');
        git('commit', '-q', '-m', 'Theirs');
        git('checkout', '-q', 'main');
      },
    },
  ],
  [
    'deletes the tests',
    /tests contradicted .*deletes tests: tests\/basket.sh/,
    { script: 'git rm -q -r tests; work; report $(git rev-parse HEAD)' },
  ],
  [
    'replaces its branch after the claim',
    /commit contradicted .*is not on any branch/,
    {
      script:
        'work; report $(git rev-parse HEAD); git commit -q --amend -m Other; git reflog expire --expire=now --all',
    },
  ],
  [
    'adds a link that leads out of the repository',
    /commit contradicted .*lead out of the repository: src\/out/,
    { script: 'ln -s /etc/passwd src/out; work; report $(git rev-parse HEAD)' },
  ],
  [
    'leaves a link that leads out of its worktree',
    /commit contradicted .*link that leads out of it: out/,
    { script: 'echo x > src/work.txt; ln -s ../../../.. out; result "{}"', isolation: 'worktree' },
  ],
  [
    'adds a submodule that points elsewhere',
    /commit contradicted .*submodules: \.gitmodules, lib/,
    {
      script: `git init -q ../lib; (cd ../lib; echo y > y; commit); git submodule --quiet add ../lib lib; work
        report $(git rev-parse HEAD)`,
    },
  ],
  [
    'leaves a repository in its worktree',
    /commit contradicted .*contains another repository/,
    {
      script: 'echo x > src/work.txt; git init -q lib; (cd lib; echo y > y; commit); result "{}"',
      isolation: 'worktree',
    },
  ],
  [
    'changes files that it may not change',
    /paths contradicted .*Not allowed to change: check.sh/,
    { script: 'echo true > check.sh; work; report $(git rev-parse HEAD)', order: { paths: ['src/**'] } },
  ],
  [
    'presents the work of another branch as its own commit',
    /commit contradicted .*has exactly the files of/,
    {
      script: 'git merge -q --squash upstream; git commit -q -m Work; report $(git rev-parse HEAD)',
      before: async (git, repository) => {
        git('checkout', '-q', '-b', 'upstream');
        await writeFile(join(repository, 'src/work.txt'), 'theirs\n');
        git('add', '.');
        git('commit', '-q', '-m', 'Theirs');
        git('checkout', '-q', 'main');
      },
    },
  ],
  [
    'moves the tests to where they do not count as tests',
    /tests contradicted .*deletes tests: tests\/basket.sh/,
    { script: 'git mv tests/basket.sh src/basket.sh; work; report $(git rev-parse HEAD)' },
  ],
  [
    'stores another folder under the hash of the original one, to hide that it deleted the tests',
    /commit contradicted .*content of its objects does not match their names/,
    {
      script: `old=$(git rev-parse HEAD^{tree}); git rm -q -r tests; work; new=$(git rev-parse HEAD^{tree})
        f=.git/objects/\${old:0:2}/\${old:2}; chmod u+w $f; cp .git/objects/\${new:0:2}/\${new:2} $f
        report $(git rev-parse HEAD)`,
    },
  ],
  [
    'forges the history of its commit with a graft',
    /commit contradicted .*does not descend/,
    {
      script: `base=$(git rev-parse HEAD); git checkout -q --orphan lone; work; c=$(git rev-parse HEAD)
        mkdir -p .git/info; echo "$c $base" > .git/info/grafts; report $c`,
    },
  ],
  [
    'forges the history of its commit with a replacement',
    /commit contradicted .*does not descend/,
    {
      script: `base=$(git rev-parse HEAD); git checkout -q --orphan lone; work; c=$(git rev-parse HEAD)
        git replace --graft $c $base; report $c`,
    },
  ],
];

describe.each(['proven', 'reported'] as const)('an agent that lies, with the policy %s', (policy) => {
  test.each(LIES)('%s', { timeout: 60_000 }, async (_, expected, lie) => {
    const order = { ...lie.order, ...(policy === 'proven' ? { checks: ['unit'] } : {}) };
    const { decision } = await executeLie({ ...lie, policy, order });
    expect(show(decision)).toMatch(CONTRADICTED);
    expect(show(decision)).toMatch(expected);
  });
});

describe.each([
  ['empties', ': > tests/basket.sh'],
  ['blanks', 'echo > tests/basket.sh'],
])('an agent that %s the tests', { timeout: 60_000 }, (_, command) => {
  const script = `${command}; work; report $(git rev-parse HEAD)`;

  it('leaves the check unchecked, which names them', async () => {
    const { decision } = await executeLie({ ...PROVEN, script });
    expect(show(decision)).toMatch(/^needs-human manual_intervention\n/);
    expect(show(decision)).toMatch(/tests unchecked by sluice: unit .* leaves nothing in tests\/basket\.sh/);
  });

  it('is contradicted without a check', async () => {
    const { decision } = await executeLie({ policy: 'reported', script });
    expect(show(decision)).toMatch(CONTRADICTED);
    expect(show(decision)).toMatch(/tests contradicted .*deletes tests: tests\/basket\.sh/);
  });
});

describe('an agent that lies about tests', { timeout: 60_000 }, () => {
  it('is contradicted by a check that fails', async () => {
    const script = 'echo yes > src/broken; work; report $(git rev-parse HEAD)';
    const { decision, store } = await executeLie({ ...PROVEN, script });
    expect(show(decision)).toMatch(CONTRADICTED);
    const [check] = decision?.evidence?.filter(({ run }) => run !== undefined) ?? [];
    expect(check?.detail).toMatch(/^unit \(sh check.sh\): exit code 1 after [\d.]+ s/);
    const run = await store.findRun(check?.run ?? '');
    expect(run).toMatchObject({ state: 'ended', spec: { engine: 'command' }, result: { process: { exit_code: 1 } } });
  });

  it('is contradicted by a check that passes only with its environment or its files', async () => {
    const script = `echo src/work.txt >> .gitignore; touch src/work.txt; git add .gitignore; git commit -q -m Work
      sh check.sh; report $(git rev-parse HEAD)`;
    const { decision } = await executeLie({ ...PROVEN, script });
    expect(show(decision)).toMatch(CONTRADICTED);
    expect(show(decision)).toMatch(/tests contradicted by sluice: unit .*exit code 1/);
  });

  it('advances with an invented pull request only if a report is enough, and the comment says so', async () => {
    const script = 'pr https://example.org/acme/shop/pull/4711';
    const proven = await executeLie({ ...PROVEN, script });
    expect(show(proven.decision)).toMatch(/^needs-human manual_intervention\n.*pr unchecked by worker/s);
    const reported = await executeLie({ policy: 'reported', script });
    expect(show(reported.decision)).toMatch(/^advance none\npr unchecked by worker/);
    const { items } = await reported.store.listOutbox({ issueRef: 'acme/shop#1' });
    expect(items[0]?.body).toContain('Reported, not verified');
  });
});

describe('an agent that writes its own check', { timeout: 60_000 }, () => {
  it.each([
    ['the script that is run', 'echo true > check.sh; work', /rewrites what it runs: check\.sh/],
    [
      'an installed package',
      'mkdir -p node_modules/x; echo x > node_modules/x/a.js; git add -f .; work',
      /node_modules\/x/,
    ],
  ])('by %s does not advance if proof is required, and the reason names it', async (_, script, expected) => {
    const checks = { unit: { command: ['sh', 'check.sh'], base_checks: false } };
    const proven = await executeLie({ ...PROVEN, checks, script: `${script}; report $(git rev-parse HEAD)` });
    expect(show(proven.decision)).toMatch(/^needs-human manual_intervention\n/);
    expect(show(proven.decision)).toMatch(/tests unchecked by sluice: unit .*It passed, but the change/);
    expect(show(proven.decision)).toMatch(expected);
  });

  it('by the scripts in package.json does not advance; by its dependencies it can', async () => {
    const checks = {
      unit: { command: ['npm', 'test'], timeout_s: 60, network: 'host', base_checks: false },
    } as const;
    const before = async (git: (...args: readonly string[]) => string, repository: string) => {
      await writeFile(join(repository, 'package.json'), '{"scripts":{"test":"test -f src/work.txt"}}');
      git('add', '.');
      git('commit', '-q', '-m', 'Package');
    };
    const write = (text: string) => `printf '%s' '${text}' > package.json; work; report $(git rev-parse HEAD)`;
    const lie = await executeLie({ ...PROVEN, checks, before, script: write('{"scripts":{"test":"true"}}') });
    expect(show(lie.decision)).toMatch(/^needs-human manual_intervention\n.*rewrites what it runs: package\.json/s);
    const scripts = '{"scripts":{"test":"test -f src/work.txt"},"dependencies":{}}';
    const honest = await executeLie({ ...PROVEN, checks, before, script: write(scripts) });
    expect(show(honest.decision)).toMatch(/^advance none/);
    const paths = honest.decision?.evidence?.find(({ claim }) => claim === 'paths');
    expect(paths?.detail).toContain('Build and test configuration touched: package.json.');
  });

  it.each([
    [
      'the configuration of npm',
      'printf "script-shell=./s.sh" > .npmrc; printf "#!/bin/sh\n" > s.sh; chmod +x s.sh',
      '.npmrc',
    ],
    ['a file behind a package script', 'echo > t.js', 't.js'],
  ])('by %s does not advance, and the reason names it', async (_, steer, file) => {
    const checks = { unit: { command: ['npm', 'test'], timeout_s: 60, network: 'host' } } as const;
    const before = async (git: (...args: readonly string[]) => string, repository: string) => {
      await writeFile(join(repository, 'package.json'), '{"scripts":{"test":"node t.js"}}');
      await writeFile(join(repository, 't.js'), 'process.exitCode = 1;');
      git('add', '.');
      git('commit', '-q', '-m', 'Package');
    };
    const script = `${steer}; work; report $(git rev-parse HEAD)`;
    const { decision } = await executeLie({ ...PROVEN, checks, before, script });
    expect(decision?.action).toBe('needs-human');
    expect(show(decision)).toContain(`It passed only with the change's own versions of ${file}.`);
  });

  it('by replacing the stored content of an untouched file is noticed, and the check is not run', async () => {
    const script = `h=$(git rev-parse HEAD:check.sh); echo true > /tmp/$h; f=.git/objects/\${h:0:2}/\${h:2}
      other=$(git hash-object -w /tmp/$h); chmod u+w $f; cp .git/objects/\${other:0:2}/\${other:2} $f
      rm /tmp/$h; echo yes > src/broken; work; report $(git rev-parse HEAD)`;
    const { decision } = await executeLie({ ...PROVEN, script });
    expect(show(decision)).toMatch(/^needs-human/);
    expect(show(decision)).toMatch(
      /tests unchecked by sluice: unit .*content of its objects does not match their names/,
    );
  });
});

describe('an unusual fact about a commit', { timeout: 60_000 }, () => {
  it.each([
    ['its author', 'work; git commit -q --amend --reset-author --no-edit', /, by liar\.$/],
    [
      'a date before the work started',
      'export GIT_AUTHOR_DATE=2001-01-01T00:00:00Z GIT_COMMITTER_DATE=2001-01-01T00:00:00Z; work',
      /, dated before the work started\.$/,
    ],
    ['that it only moves files', 'git mv src/a.txt src/work.txt; commit', /, no line changed: files were only moved/],
  ])('is named in the evidence: %s', async (_, script, expected) => {
    const { decision } = await executeLie({ ...PROVEN, script: `${script}; report $(git rev-parse HEAD)` });
    expect(show(decision)).toMatch(/^advance none/);
    expect(decision?.evidence?.find(({ claim }) => claim === 'commit')?.detail).toMatch(expected);
  });
});

describe('an agent that lies about its pull request', { timeout: 60_000 }, () => {
  /** A forge whose pull request 7 has another head. */
  async function openForge() {
    const answer = { head: { sha: 'c'.repeat(40) }, html_url: 'https://forge/7' };
    const { url } = await startFaultyServer((request) =>
      request.url.endsWith('/pulls/7') ? { status: 200, body: answer } : { status: 404, body: {} },
    );
    return { host: new URL(url).host, sinks: [createGitHubSink({ token: 'x', baseUrl: url, timeoutMs: 5000 })] };
  }

  it.each<[string, RegExp, (host: string) => string]>([
    [
      'names one that does not exist',
      /pr contradicted .*does not exist in acme\/shop/,
      (host) => `pr http://${host}/acme/shop/pull/9`,
    ],
    [
      'names one of another repository',
      /pr contradicted .*does not belong to acme\/shop/,
      (host) => `pr http://${host}/evil/shop/pull/7`,
    ],
    [
      'names one with another head',
      /pr contradicted .*has the head cccccccccccc instead/,
      (host) =>
        `work; result "{\\"pr\\":\\"http://${host}/acme/shop/pull/7\\",\\"commit\\":\\"$(git rev-parse HEAD)\\"}"`,
    ],
  ])('%s', async (_, expected, write) => {
    const { host, sinks } = await openForge();
    const { decision } = await executeLie({ script: write(host), policy: 'reported', sinks });
    expect(show(decision)).toMatch(CONTRADICTED);
    expect(show(decision)).toMatch(expected);
  });
});

describe('an agent that names its branch like a flag', { timeout: 60_000 }, () => {
  it('writes nothing, and its report is rejected', async () => {
    const branch = 'cp .git/refs/heads/main .git/refs/heads/--output=stolen';
    const { decision, data } = await executeLie({ ...PROVEN, script: `work; ${branch}; report --output=stolen` });
    expect(show(decision)).toBe('needs-human manual_intervention');
    expect(decision?.reason).toContain('must be at least 4 digits of a commit hash');
    expect(existsSync(join(data, 'repository/stolen'))).toBe(false);
  });
});

describe('an agent that lies about its run', { timeout: 60_000 }, () => {
  it('copies the result of an earlier run', async () => {
    const { decision } = await executeLie({
      ...PROVEN,
      script: 'work; RUN=2026-01-01-qa-0001 report $(git rev-parse HEAD)',
    });
    expect(show(decision)).toMatch(/^needs-human stale_run\nresult contradicted/);
  });

  it("claims the earlier run's commit again when it is retried", async () => {
    const script = 'test -f src/work.txt || { echo yes > src/broken; work; }; report $(git rev-parse HEAD)';
    const { store, lead, record } = await executeLie({ ...PROVEN, script });
    const [item] = (await store.listInbox({ open: true })).items;
    const { order } = await lead.resolve({ id: item?.id ?? '', action: 'retry', who: 'Ada', why: 'the check fails' });
    const name = { issueRef: order?.issue_ref ?? '', runId: order?.run_id ?? '' };
    const retried = await waitForOrder(store, name, { signal: AbortSignal.timeout(20_000) });
    expect(retried?.base_commit).toBe(record?.base_commit);
    expect(show(retried?.decision)).toMatch(CONTRADICTED);
    expect(show(retried?.decision)).toContain('existed before the work started');
  });
});

describe('an agent that leaves a process behind', { timeout: 60_000 }, () => {
  it('changes nothing by replacing its result after it was read', async () => {
    const script = `echo yes > src/broken; work; report $(git rev-parse HEAD)
      (setsid sh -c 'while sleep 0.1; do rm -f "$0/work_result.json"; echo broken > "$0/work_result.json"; done' "$SLUICE_RUN_DIR" > /dev/null 2>&1 &)
      sleep 0.05`;
    const { decision, store } = await executeLie({ ...PROVEN, script });
    expect(show(decision)).toMatch(/^needs-human (?:evidence_contradicted|output_unparseable)/);
    expect((await store.listExecutions({})).items).toHaveLength(1);
  });
});

describe('an agent that wants Sluice to run its code', { timeout: 60_000 }, () => {
  it('runs none of it: no hook, filter, monitor or included configuration', async () => {
    const markerFolder = await makeFolder({});
    const trap = (name: string) => `touch ${join(markerFolder, name)}; cat`;
    const script = `
      g=$(command git rev-parse --git-common-dir)
      command git config filter.evil.smudge "${trap('smudge')}"; command git config filter.evil.clean "${trap('clean')}"
      command git config filter.evil.process "${trap('process')}"; command git config core.fsmonitor "${trap('monitor')}"
      command git config diff.evil.textconv "${trap('textconv')}"; command git config diff.external "${trap('external')}"
      command git config core.sshCommand "${trap('ssh')}"; command git config core.pager "${trap('pager')}"
      printf '[core]\\n\\thooksPath = %s/hooks\\n\\teditor = "%s"\\n' "$g" "${trap('editor')}" > "$g/more"; command git config include.path more
      for hook in post-checkout pre-commit commit-msg reference-transaction post-index-change; do
        printf '#!/bin/sh\\ntouch ${join(markerFolder, 'hook')}\\n' > "$g/hooks/$hook"; chmod +x "$g/hooks/$hook"
      done
      printf '* filter=evil diff=evil\\n' > .gitattributes
      echo x > src/work.txt; rm -f ${markerFolder}/*; result "{}"`;
    const { decision } = await executeLie({ ...PROVEN, isolation: 'worktree', script });
    expect(show(decision)).toMatch(/^advance none/);
    const markerFiles = execFileSync('ls', [markerFolder], { encoding: 'utf8' });
    expect(markerFiles).toBe('');
  });

  it.each(fc.sample(fc.shuffledSubarray(GIT_TRICKS, { minLength: 8 }), GIT_CONFIGURATIONS).map((tricks) => [tricks]))(
    'cannot get any of it run, whatever else is in the git configuration: %j',
    async (tricks) => {
      const markerFolder = await makeFolder({});
      const trap = (index: number) => `touch ${markerFolder}/${index}; cat`;
      const settings = tricks.map((trick, index) => `command git config ${trick} "${trap(index)}" || true`);
      const script = `
        g=$(command git rev-parse --git-common-dir)
        echo x > src/work.txt
        printf '* filter=evil diff=evil merge=evil\\n' > "$g/info/attributes"
        printf '[submodule "evil"]\\n\\tpath = src/sub\\n\\turl = ext::sh\\n\\tupdate = !touch ${markerFolder}/module\\n' > .gitmodules
        command git config extensions.worktreeConfig true
        command git config --worktree core.hooksPath "$g/hooks" || true
        ${settings.join('\n')}
        rm -f ${markerFolder}/*; result "{}"`;
      await executeLie({ ...PROVEN, isolation: 'worktree', script });
      expect(execFileSync('ls', [markerFolder], { encoding: 'utf8' })).toBe('');
    },
  );

  it('cannot get a secret committed', async () => {
    const script = 'echo "key = ghp_abcdefghijklmnop" > src/work.txt; result "{}"';
    const { decision, git, data, submitted } = await executeLie({
      ...PROVEN,
      isolation: 'worktree',
      script,
      secrets: ['ghp_[a-z]+'],
    });
    expect(show(decision)).toMatch(/commit contradicted .*it contains a secret/);
    expect(git('log', '--all', '--format=%s').trim()).toBe('Begin');
    const keptFile = join(data, 'worktrees', submitted.run, 'src/work.txt');
    expect(existsSync(keptFile) && readFileSync(keptFile, 'utf8')).toContain('ghp_');
  });

  it('cannot get ignored files committed', async () => {
    const script = 'echo secret.txt > .gitignore; echo x > secret.txt; echo x > src/work.txt; result "{}"';
    const { decision, git, record } = await executeLie({ ...PROVEN, isolation: 'worktree', script });
    expect(show(decision)).toMatch(/^advance none/);
    const files = git('show', '--name-only', '--format=', record?.result?.changes.commit ?? '');
    expect(files.trim().split('\n')).toEqual(['.gitignore', 'src/work.txt']);
  });
});
