import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../base/index.js';
import { openCluster } from './cluster.js';
import { watchPods } from './kubernetes-placement.js';

it('ends a watch that the API server has not answered yet', async () => {
  const server = createServer((request, response) => {
    if (request.url?.includes('watch=1') === true) server.emit('watched');
    else response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] }));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  class KubeConfig {
    loadFromDefault = (): void => undefined;
    getCurrentCluster = () => ({ server: `http://127.0.0.1:${port}` });
    getCurrentContext = () => 'test';
    getContextObject = () => ({ namespace: 'runs' });
    applyToHTTPSOptions = async (): Promise<void> => undefined;
  }
  const watched = watchPods(await openCluster({}, async () => ({ KubeConfig })), silentLogger);
  await once(server, 'watched');
  await expect(watched.close()).resolves.toBeUndefined();
});
