import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PROJECT, run } from '../../scripts/run-tool.js';
import { findExecutable } from '../../src/base/files/index.js';
import type { Cluster } from '../../src/orders/placement/kubernetes/cluster.js';
import { BUNDLED_MAIN } from '../command-stage.js';
import { createPostgresServer, UNSAFE_BUT_FAST } from '../postgres/postgres-server.js';
import { makeFolder } from '../temporary-folder.js';
import { COMMAND_FILE, CONTROL_PLANE, HOSTS_FILE } from './test-cluster.js';

const search = { path: process.env['PATH'] ?? '', cwd: PROJECT };
const tools = await Promise.all(['kubectl', 'bwrap', 'openssl'].map(async (name) => findExecutable(name, search)));
const KUBECONFIG = `KUBECONFIG=${join(CONTROL_PLANE, 'kubeconfig')}`;
const MANIFESTS = join(PROJECT, 'deploy/kubernetes');

/** A copy of the manifests without what the tests cannot have: kinds that their old server lacks, and a second database. */
async function copyManifests(): Promise<string> {
  const text = await readFile(join(MANIFESTS, 'sluice.yaml'), 'utf8');
  const known = text.split(/^---$/m).filter((part) => !part.includes('kind: PodDisruptionBudget'));
  return makeFolder({
    'kustomization.yaml': 'namespace: sluice\nresources: [namespace.yaml, sluice.yaml]\n',
    'namespace.yaml': await readFile(join(MANIFESTS, 'namespace.yaml'), 'utf8'),
    'sluice.yaml': known.join('---'),
  });
}

/** The demo on a cluster, whose node runs servers, workers and agents in sandboxes with the paths of their volumes. */
export function describeDemo(getAdmin: () => Cluster): void {
  it.skipIf(tools.includes(undefined))(
    'are shown by the demo, on servers that the manifests have started',
    async () => {
      const database = await createPostgresServer(await makeFolder({}), UNSAFE_BUT_FAST);
      await database.start();
      onTestFinished(async () => database.stop());
      await writeFile(HOSTS_FILE, '127.0.0.1 localhost sluice.sluice.svc\n');
      await writeFile(COMMAND_FILE, `#!/bin/sh\nexec "${process.execPath}" "${BUNDLED_MAIN}" "$@"\n`);
      await chmod(COMMAND_FILE, 0o755);
      for (const name of ['one', 'two']) {
        const path = `/api/v1/persistentvolumes/${name}`;
        const spec = { capacity: { storage: '100Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/tmp' } };
        await getAdmin().send('POST', '/api/v1/persistentvolumes', { metadata: { name }, spec });
        onTestFinished(async () => void (await getAdmin().send('DELETE', path)));
      }
      onTestFinished(async () => void (await getAdmin().send('DELETE', '/api/v1/namespaces/sluice')));
      const secrets = await run(
        'env',
        [KUBECONFIG, 'sh', join(MANIFESTS, 'create-secrets.sh'), 'sluice', database.url],
        PROJECT,
      );
      expect(secrets).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('your token') as unknown });
      const options = ['--folder', await copyManifests(), '--server', 'https://127.0.0.1:7171'];
      const script = [join(PROJECT, 'scripts/demo-kubernetes.ts'), ...options];
      const { exitCode, stdout, stderr } = await run(
        'env',
        [KUBECONFIG, process.execPath, '--import', 'tsx', ...script],
        PROJECT,
      );
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      for (const number of [1, 2, 3]) {
        expect(stdout).toMatch(new RegExp(`local#demo-\\w+-${number}: pod sluice-\\S+ on node node-1`));
        expect(stdout).toMatch(new RegExp(`local#demo-\\w+-${number}: review\\.`));
      }
    },
  );
}
