import { expect, it } from 'vitest';
import { createMemoryIo } from './fixtures/memory-io.js';
import { createServiceLogger } from './command-context.js';
import { compileKnownSecrets, createKnownSecrets } from './command-config.js';

const config = { data: '/data', database: 'memory:', file: null, warnings: [] };

it('masks new and old tokens after a rotation, in logs and in reports', async () => {
  const knownSecrets = createKnownSecrets({
    ...config,
    tokens: [{ name: 'ada', scopes: ['read'], value: 'the-first-token' }],
  });
  const io = createMemoryIo({});
  const logger = createServiceLogger(config, knownSecrets, io);
  const secrets = await compileKnownSecrets(config, knownSecrets);
  const text = 'the-first-token, the-second-token';
  expect(secrets.maskText(text)).toBe('***************, the-second-token');
  knownSecrets.add(['the-second-token', 'the-second-token-but-longer']);
  expect(secrets.maskText(text)).toBe('***************, ****************');
  expect(Buffer.from(secrets.mask(Buffer.from(text))).toString()).not.toContain('token');
  logger.info(text, { url: 'x?token=the-second-token-but-longer' });
  expect(JSON.parse(io.printed.stderr)).toMatchObject({ message: '***, ***', url: 'x?token=***' });
});

it('keeps a limited number of rotated tokens, and always the initial tokens', () => {
  const knownSecrets = createKnownSecrets({
    ...config,
    tokens: [{ name: 'ada', scopes: ['read'], value: 'the-first-token' }],
  });
  for (let turn = 0; turn < 3000; turn += 1) knownSecrets.add([`token-number-${turn}`]);
  expect(knownSecrets.values).toHaveLength(1001);
  expect(knownSecrets.values).toEqual(expect.arrayContaining(['the-first-token', 'token-number-2999']));
});
