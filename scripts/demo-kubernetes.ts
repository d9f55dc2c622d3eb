/**
 * The demo on a cluster: `npm run demo:kubernetes [-- --folder FOLDER] [--server URL]`. Applies the plain manifests to the
 * cluster of the current kubeconfig, adds an agent that needs no account, and shows three orders done in pods. The images
 * that the manifests name must exist. Without `--server`, it reaches the server through `kubectl port-forward`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArguments } from './read-arguments.js';
import { PROJECT, run } from './run-tool.js';

const { values } = readArguments(
  {
    options: {
      folder: { type: 'string', default: join(PROJECT, 'deploy/kubernetes') },
      server: { type: 'string' },
    },
  },
  'npm run demo:kubernetes [-- --folder FOLDER] [--server URL]',
);

const NAMESPACE = 'sluice';
/** Images might have to be pulled. */
const TIME_LIMIT_MS = 600_000;
const REPOSITORY = '/workspace/demo.git';

/** Greets, and reports it as its result. */
const AGENT = `
const fs = process.getBuiltinModule('node:fs');
const { SLUICE_ISSUE_REF: issue_ref, SLUICE_RUN_ID: run_id, SLUICE_RUN_DIR: folder } = process.env;
fs.writeFileSync('greeting.md', 'Hello from ' + process.getBuiltinModule('node:os').hostname() + '\\n');
const result = { issue_ref, run_id, status: 'ok', changes: {}, tests: 'n/a', summary: 'Wrote a greeting.' };
fs.writeFileSync(folder + '/work_result.json', JSON.stringify(result));
`;

/** A new repository in each pod, so that the demo needs no git server. */
const MAKE_REPOSITORY = `
set -e
git init --quiet --bare ${REPOSITORY}
tree=$(git --git-dir ${REPOSITORY} mktree </dev/null)
commit=$(git --git-dir ${REPOSITORY} -c user.name=sluice -c user.email=sluice@example.org commit-tree -m Begin "$tree")
git --git-dir ${REPOSITORY} update-ref "$(git --git-dir ${REPOSITORY} symbolic-ref HEAD)" "$commit"
`;

interface Config {
  readonly placements: {
    readonly kubernetes: { readonly image: string; readonly template?: { readonly spec?: object } };
  };
  readonly wrappers?: object;
}

/** Adds the agent and its repository to the configuration of the servers. */
function addDemo(config: Config): object {
  const { kubernetes } = config.placements;
  const { template } = kubernetes;
  const repository = {
    name: 'repository',
    image: kubernetes.image,
    command: ['sh', '-c', MAKE_REPOSITORY],
    env: [{ name: 'HOME', value: '/workspace' }],
    // The worker's user: git refuses a repository of another one.
    securityContext: { runAsUser: 10_001, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [{ name: 'workspace', mountPath: '/workspace' }],
  };
  const spec = { ...template?.spec, initContainers: [repository] };
  const wrapper = { type: 'script', command: ['node', '-e', AGENT], placement: 'kubernetes', sandbox: 'required' };
  return {
    ...config,
    repos: [`file://${REPOSITORY}`],
    wrappers: { ...config.wrappers, greeter: wrapper },
    placements: { ...config.placements, kubernetes: { ...kubernetes, template: { ...template, spec } } },
  };
}

async function kubectl(...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run('kubectl', ['--namespace', NAMESPACE, ...args], PROJECT);
  if (exitCode !== 0) throw new Error(`kubectl ${args[0] ?? ''}: ${stderr.trim()}`);
  return stdout;
}

async function readData(kind: string, name: string): Promise<Readonly<Record<string, string>>> {
  return (JSON.parse(await kubectl('get', kind, name, '--output=json')) as { data: Record<string, string> }).data;
}

const decode = (text = ''): string => Buffer.from(text, 'base64').toString('utf8');

/** Applies the manifests and waits until a server has the demo's configuration. */
async function deploy(): Promise<void> {
  const { exitCode, stdout, stderr } = await run(
    'sh',
    [join(PROJECT, 'deploy/kubernetes/create-secrets.sh'), NAMESPACE],
    PROJECT,
  );
  process.stdout.write(stdout);
  if (exitCode !== 0) throw new Error(stderr);
  process.stdout.write(await kubectl('apply', '-k', values.folder));
  const file = 'sluice.config.json';
  const config = JSON.parse((await readData('configmap', 'sluice'))[file] ?? '') as Config;
  const patch = JSON.stringify({ data: { [file]: JSON.stringify(addDemo(config), null, 2) } });
  await kubectl('patch', 'configmap', 'sluice', '--type=merge', `--patch=${patch}`);
  await kubectl('rollout', 'restart', 'statefulset/sluice');
  process.stdout.write(await kubectl('rollout', 'status', 'statefulset/sluice', `--timeout=${TIME_LIMIT_MS / 1000}s`));
}

/** Forwards a local port to the server. */
async function forward(): Promise<{ readonly url: string; readonly close: () => void }> {
  if (values.server !== undefined) return { url: values.server, close: () => undefined };
  const child = spawn('kubectl', ['--namespace', NAMESPACE, 'port-forward', 'service/sluice', ':7171'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as [string];
  const port = /:(\d+) ->/.exec(line)?.[1];
  if (port === undefined) throw new Error(`kubectl port-forward: ${line}`);
  return { url: `https://127.0.0.1:${port}`, close: () => void child.kill() };
}

interface Issue {
  readonly issue: { readonly state: string };
  readonly orders: readonly { readonly decision?: { readonly reason: string } }[];
}

/** Sends requests to the server, whose certificate is for its name in the cluster. */
function connect(url: string, token: string, ca: string) {
  return async (method: string, path: string, body?: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const sent = request(new URL(path, url), { method, headers, ca, servername: NAMESPACE }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => {
          if ((response.statusCode ?? 0) < 300) resolve(JSON.parse(text));
          else reject(new Error(`${method} ${path}: ${text}`));
        });
      });
      sent.once('error', reject);
      sent.end(body === undefined ? '' : JSON.stringify(body));
    });
}

/** Waits until the server is ready: its address can exist before it listens. */
async function waitForServer(send: ReturnType<typeof connect>): Promise<void> {
  const until = Date.now() + TIME_LIMIT_MS;
  for (;;) {
    try {
      await send('GET', '/readyz');
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await sleep(300);
    }
  }
}

/** Submits three orders, and prints in which pods they are executed and how they end. */
async function showOrders(send: ReturnType<typeof connect>): Promise<void> {
  const time = Date.now().toString(36);
  const open = new Map<string, string>();
  for (const number of [1, 2, 3]) {
    const issue_ref = `local#demo-${time}-${number}`;
    const order = { issue_ref, role: 'demo', repo: `file://${REPOSITORY}`, worker: 'greeter', instructions: 'Greet.' };
    const { run: id } = (await send('POST', '/v1/orders', order)) as { readonly run: string };
    process.stdout.write(`${issue_ref}: submitted\n`);
    open.set(issue_ref, id);
  }
  const shown = new Set<string>();
  const until = Date.now() + TIME_LIMIT_MS;
  while (open.size > 0) {
    if (Date.now() > until) throw new Error(`not done in time: ${[...open.keys()].join(', ')}`);
    const rows = await kubectl(
      'get',
      'pods',
      '--selector=sluice.run',
      '--no-headers',
      `--output=custom-columns=${PODS}`,
    );
    for (const [issueRef, runId] of open) {
      const row = rows.split('\n').find((each) => each.startsWith(`${runId} `) && !each.includes('<none>'));
      if (row !== undefined && !shown.has(runId)) {
        const [, pod, node] = row.split(/\s+/);
        process.stdout.write(`${issueRef}: pod ${pod ?? ''} on node ${node ?? ''}\n`);
        shown.add(runId);
      }
      const { issue, orders } = (await send('GET', `/v1/issues/${encodeURIComponent(issueRef)}`)) as Issue;
      if (issue.state === 'todo' || issue.state === 'doing') continue;
      open.delete(issueRef);
      process.stdout.write(`${issueRef}: ${issue.state}. ${orders[0]?.decision?.reason ?? ''}\n`);
      if (issue.state !== 'review') process.exitCode = 1;
    }
    await sleep(300);
  }
}

const PODS = 'RUN:.metadata.labels.sluice\\.run,POD:.metadata.name,NODE:.spec.nodeName';

await deploy();
const tokens = JSON.parse(decode((await readData('secret', 'sluice-tokens'))['tokens.json'])) as {
  readonly name: string;
  readonly value: string;
}[];
const { url, close } = await forward();
try {
  const ca = decode((await readData('secret', 'sluice-tls'))['ca.crt']);
  const send = connect(url, tokens.find(({ name }) => name === 'me')?.value ?? '', ca);
  await waitForServer(send);
  await showOrders(send);
} finally {
  close();
}
process.stdout.write('Remove everything with "kubectl delete namespace sluice".\n');
