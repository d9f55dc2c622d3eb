import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeServerSite } from '../fixtures/server-site.js';

const DESCRIPTORS = 256;

describe('a server with few file descriptors', () => {
  it(
    'keeps half of its descriptors for its work when a client opens too many connections',
    { timeout: 60_000 },
    async () => {
      const site = await makeServerSite({ descriptors: DESCRIPTORS });
      await site.start();
      const { hostname, port } = new URL(site.url);
      const sockets: Socket[] = [];
      onTestFinished(() => {
        for (const socket of sockets) socket.destroy();
      });

      await Promise.all(
        Array.from({ length: 2 * DESCRIPTORS }, async () => {
          const socket = connect(Number(port), hostname);
          sockets.push(socket);
          socket.on('error', () => undefined).write('GET / HTTP/1.1\r\n');
          await once(socket, 'connect');
        }),
      );
      const open = await readdir(`/proc/${site.pid}/fd`);
      expect(open.length).toBeLessThan((3 * DESCRIPTORS) / 4);

      for (const socket of sockets) socket.destroy();
      await expect.poll(async () => fetch(`${site.url}/healthz`).then(({ status }) => status)).toBe(200);
    },
  );
});
