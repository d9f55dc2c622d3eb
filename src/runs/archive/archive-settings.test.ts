import { describe, expect, it } from 'vitest';
import { readArchiveSettings } from './archive-settings.js';

const ENV = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'a secret' };

describe('readArchiveSettings', () => {
  it('reads the bucket and the prefix, and applies defaults to the other settings', () => {
    expect(readArchiveSettings('s3://runs/team%20a/b/', ENV)).toEqual({
      location: 's3://runs/team a/b',
      bucket: 'runs',
      prefix: 'team a/b',
      endpoint: undefined,
      region: 'us-east-1',
      credentials: { accessKeyId: 'AKIA', secretAccessKey: 'a secret' },
      keepsLocal: true,
      copyEveryMs: undefined,
      growingPartBytes: 1024 * 1024,
    });
  });

  it('falls back to the environment variables of other S3 clients', () => {
    const env = { ...ENV, AWS_SESSION_TOKEN: 'x', AWS_REGION: 'eu-1', AWS_ENDPOINT_URL: 'https://a.example' };
    const settings = readArchiveSettings('s3://runs', env);
    expect(settings).toMatchObject({ prefix: '', region: 'eu-1', credentials: { sessionToken: 'x' } });
    expect(settings.endpoint?.href).toBe('https://a.example/');
    const explicit = readArchiveSettings('s3://runs?endpoint=http://b.example:9000&region=r&keep_local=false', env);
    expect([explicit.endpoint?.host, explicit.region, explicit.keepsLocal]).toEqual(['b.example:9000', 'r', false]);
  });

  it('treats an empty environment variable as unset', () => {
    const empty = { ...ENV, AWS_SESSION_TOKEN: '', AWS_REGION: '', AWS_ENDPOINT_URL_S3: '' };
    const settings = readArchiveSettings('s3://runs', empty);
    expect(settings).toMatchObject({ region: 'us-east-1', endpoint: undefined });
    expect(settings.credentials).not.toHaveProperty('sessionToken');
    const others = { ...empty, AWS_DEFAULT_REGION: 'eu-2', AWS_ENDPOINT_URL: 'https://a.example' };
    const fallback = readArchiveSettings('s3://runs', others);
    expect([fallback.region, fallback.endpoint?.host]).toEqual(['eu-2', 'a.example']);
  });

  it.each([
    ['nonsense', ENV, 's3://bucket/prefix'],
    ['https://runs', ENV, 's3://bucket/prefix'],
    ['s3://', ENV, 's3://bucket/prefix'],
    ['s3://runs/%E0%A4%A', ENV, 'prefix'],
    ['s3://AKIA:secret@runs', ENV, 'AWS_ACCESS_KEY_ID'],
    ['s3://runs?keep=false', ENV, 'unknown option'],
    ['s3://runs?keep_local=no', ENV, 'keep_local'],
    ['s3://runs?copy_every_s=-1', ENV, 'copy_every_s'],
    ['s3://runs?copy_every_s=1e3', ENV, 'copy_every_s'],
    ['s3://runs?copy_part_kib=1', ENV, 'copy_part_kib'],
    ['s3://runs?endpoint=ftp://x', ENV, 'endpoint'],
    ['s3://runs?endpoint=http://u:secret@x', ENV, 'endpoint'],
    ['s3://runs', { ...ENV, AWS_ENDPOINT_URL: 'localhost:9000' }, 'from the environment variable AWS_ENDPOINT_URL.'],
    ['s3://runs', { ...ENV, AWS_ENDPOINT_URL_S3: 'http://u:secret@x' }, 'variable AWS_ENDPOINT_URL_S3.'],
    ['s3://runs', {}, 'AWS_SECRET_ACCESS_KEY'],
    ['s3://runs', { AWS_ACCESS_KEY_ID: 'AKIA' }, 'AWS_SECRET_ACCESS_KEY'],
  ])('refuses %s', (address, env, words) => {
    const read = () => readArchiveSettings(address, env);
    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', message: expect.stringContaining(words) }));
    expect(read).not.toThrow(/secret@/);
  });
});
