import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../base/index.js';
import { ClusterError, type Cluster } from './cluster.js';
import type { Pod, WatchLine } from './objects.js';
import { watchPods } from './kubernetes-placement.js';

function makePod(uid: string, version: string): Pod {
  return { metadata: { name: uid, uid, resourceVersion: version, ownerReferences: [{ uid: 'job' }] } };
}

/** How one watch of the scripted cluster goes: its lines, and then its end. */
interface Script {
  readonly first?: () => void;
  readonly lines?: readonly WatchLine[];
  readonly fails?: Error;
}

/** A cluster that lists `pods`, and whose watches follow the scripts; the last one stays open. */
function scriptCluster(pods: Pod[], scripts: Script[]) {
  const calls: string[] = [];
  const cluster: Cluster = {
    namespace: 'runs',
    async send() {
      calls.push('list');
      return { metadata: { resourceVersion: '10' }, items: pods };
    },
    async follow(path, onLine, signal) {
      calls.push(/resourceVersion=\d+/.exec(path)?.[0] ?? path);
      const script = scripts.shift();
      if (script === undefined)
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      script.first?.();
      for (const line of script.lines ?? []) onLine(line);
      if (script.fails !== undefined) throw script.fails;
      return undefined;
    },
  };
  const watched = watchPods(cluster, silentLogger);
  onTestFinished(async () => watched.close());
  return { watched, calls };
}

const names = (pods: readonly Pod[] | undefined) => pods?.map(({ metadata }) => metadata.name);

it('resumes a watch that ended where it was, also after a lost connection', async () => {
  const added = { type: 'ADDED', object: makePod('two', '11') } as const;
  const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: '17' } } } as unknown as WatchLine;
  const { watched, calls } = scriptCluster(
    [makePod('one', '9')],
    [{ lines: [added, bookmark] }, { fails: new Error('socket hang up') }],
  );
  await expect.poll(() => calls).toEqual(['list', 'resourceVersion=10', 'resourceVersion=17', 'resourceVersion=17']);
  await expect.poll(() => names(watched.find('job'))).toEqual(['one', 'two']);
});

it.each<[string, Script]>([
  ['as a line of the watch', { lines: [{ type: 'ERROR', object: { code: 410 } as unknown as WatchLine['object'] }] }],
  ['as the answer', { fails: new ClusterError(410, 'Expired', 'too old resource version') }],
])('lists again after 410 Gone %s, and remembers what is missing then', async (_, script) => {
  const pods = [makePod('one', '9'), makePod('two', '9')];
  const { watched, calls } = scriptCluster(pods, [{ ...script, first: () => void pods.pop() }]);
  await expect.poll(() => calls).toEqual(['list', 'resourceVersion=10', 'list', 'resourceVersion=10']);
  await expect.poll(() => names(watched.find('job'))).toEqual(['one']);
  expect(names(watched.findDeleted('job'))).toEqual(['two']);
});

it('knows nothing while the cluster does not answer, but remembers what was deleted', async () => {
  const gone = { type: 'DELETED', object: makePod('one', '11') } as const;
  const pods = [makePod('one', '9')];
  const { watched } = scriptCluster(pods, [
    { lines: [gone] },
    ...Array.from({ length: 50 }, () => ({ fails: new Error('refused') })),
  ]);
  await expect.poll(() => names(watched.findDeleted('job'))).toEqual(['one']);
  await expect.poll(() => watched.find('job')).toBeUndefined();
  expect(watched.findDeleted('other')).toEqual([]);
});
