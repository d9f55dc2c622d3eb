import { describe, expect, it } from 'vitest';
import { toEngineErrorData } from './engine-error.js';

describe('an engine error', () => {
  it.each([
    ['{"error":{"code":400,"message":"bad"}}', 400],
    ['{"error":{"message":"bad", "code": 503}}', 503],
    ['unexpected status 401 Unauthorized', 401],
    ['HTTP/1.1 502 Bad Gateway', 502],
    ['status_code: 429', 429],
    ['503 UNAVAILABLE', 503],
    ['✕ [API Error: 429]', 429],
    ['Retrying (429)', 429],
    ['请求失败：500', 500],
  ])('has the HTTP status in %s', (message, status) => {
    expect(toEngineErrorData({ message })).toMatchObject({ http_status: status });
  });

  it.each([
    'Cannot connect to API: The socket connection was closed unexpectedly.',
    'The connection was reset',
    'fetch failed',
  ])('has the cause "network" for %s', (message) => {
    expect(toEngineErrorData({ message })).toMatchObject({ cause: 'network' });
  });

  it.each(['exit code 400', '"encode":400', 'line 404 of a file', '"code":4000', 'Error: 500 tokens', '(4290)'])(
    'has no HTTP status for %s',
    (message) => {
      expect(toEngineErrorData({ message })).not.toHaveProperty('http_status');
    },
  );

  it.each([
    ['{"code":429}', false, 'ENGINE_RATE_LIMIT_HINT'],
    ['{"code":403}', false, 'ENGINE_AUTH_HINT'],
    ['connection lost', true, 'ENGINE_RETRYING'],
    ['--yolo is deprecated', false, 'ENGINE_DEPRECATION_WARNING'],
    ['connection lost', false, 'ENGINE_ERROR'],
  ])('with the message %s (retrying: %s) has the code %s', (message, retrying, code) => {
    expect(toEngineErrorData({ message, retrying })).toMatchObject({ code, retrying });
  });

  it('has a shortened message if the engine prints a whole response', () => {
    expect(toEngineErrorData({ message: 'x'.repeat(10_000) }).message).toHaveLength(4097);
  });
});
