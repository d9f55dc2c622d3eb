import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, readServerSettings } from './server-settings.js';

describe('the settings of a server', () => {
  it('are restrictive by default: one root, no executables, no other sites', () => {
    expect(readServerSettings({}, { env: {}, cwd: '/srv' })).toEqual({
      tokens: [],
      agents: {},
      budgets: {},
      prices: {},
      triggers: {},
      schedules: {},
      approvals: [],
      sinks: [{ name: 'markdown', type: 'markdown' }],
      roots: ['/srv'],
      commands: [],
      placements: { container: {} },
      env: [],
      allowBypass: false,
      origins: [],
      hosts: [],
      https: false,
      limits: DEFAULT_LIMITS,
    });
  });

  it('come from the configuration', () => {
    const token = { name: 'ada', scopes: ['read'], value: 'a-long-enough-secret' } as const;
    const server = {
      env: ['OPENAI_*'],
      allow_bypass: true,
      origins: ['https://a.example'],
      hosts: ['b.example'],
      https: true,
      limits: { body_bytes: 1, request_s: 2, requests_at_once: 3 },
    };
    const container = { image: 'agents:1', images: ['localhost/*'] };
    const config = { roots: [], commands: ['make'], tokens: [token], server, placements: { container } };
    expect(readServerSettings(config, { env: {}, cwd: '/srv' })).toEqual({
      tokens: [token],
      agents: {},
      budgets: {},
      prices: {},
      triggers: {},
      schedules: {},
      approvals: [],
      sinks: [{ name: 'markdown', type: 'markdown' }],
      roots: [],
      commands: ['make'],
      placements: { container },
      env: ['OPENAI_*'],
      allowBypass: true,
      origins: ['https://a.example'],
      hosts: ['b.example'],
      https: true,
      limits: { ...DEFAULT_LIMITS, bodyBytes: 1, requestMs: 2000, requestsAtOnce: 3 },
    });
  });
});
