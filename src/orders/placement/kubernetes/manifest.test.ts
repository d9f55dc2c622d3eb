import { describe, expect, it } from 'vitest';
import type { PlacedRun } from '../port.js';
import { renderJob, renderSecret } from './manifest.js';

const RUN: PlacedRun = {
  id: '01KA3V9Q0000000000000000RN',
  order: '2026-11-18-backend-0001',
  server: 'https://sluice.example.org',
  token: 'secret-token',
};
const SETTINGS = { image: 'registry.example.org/agents:1', worker_image: 'registry.example.org/sluice:1' };

/** The parts of a job that the tests read. */
interface RenderedJob {
  readonly metadata: { readonly name: string; readonly labels: object };
  readonly spec: {
    readonly backoffLimit: number;
    readonly ttlSecondsAfterFinished: number;
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: Readonly<Record<string, unknown>> & {
        readonly containers: readonly (Readonly<Record<string, unknown>> & { readonly name: string })[];
      };
    };
  };
}

const render = (run: Partial<PlacedRun> = {}, settings: Parameters<typeof renderJob>[1] = {}): RenderedJob =>
  renderJob({ ...RUN, ...run }, { ...SETTINGS, ...settings }) as RenderedJob;

describe('the job of a run', () => {
  it('is named and labelled by its run and order, is never retried by the cluster, and is deleted afterwards', () => {
    const { metadata, spec } = render({ labels: { team: 'payments', 'sluice.run': 'forged' } });
    const labels = { team: 'payments', 'sluice.run': RUN.id, 'sluice.order': '2026-11-18-backend-0001' };
    expect(metadata).toMatchObject({ name: 'sluice-01ka3v9q0000000000000000rn', labels });
    expect(spec.template.metadata.labels).toMatchObject(labels);
    expect(spec).toMatchObject({ backoffLimit: 0, ttlSecondsAfterFinished: 3600 });
    expect(spec.template.spec['restartPolicy']).toBe('Never');
    expect(render({}, { ttl_s: 60 }).spec.ttlSecondsAfterFinished).toBe(60);
  });

  it('has a label of its order that the cluster accepts', () => {
    const order = `-${'a b/'.repeat(40)}`;
    expect(render({ order }).metadata.labels).toMatchObject({
      'sluice.order': expect.stringMatching(/^[a-z\d][\w.-]{0,61}[a-z\d]$/) as unknown,
    });
    expect(render({ order: '//' }).metadata.labels).not.toHaveProperty('sluice.order');
  });

  it('meets the pod security standard "restricted", and has no credentials of the cluster', () => {
    const { spec } = render().spec.template;
    expect(spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const container of spec.containers)
      expect(container['securityContext']).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
  });

  it('has two containers with different users, which share only the workspace and the folder of a socket', () => {
    const { containers } = render().spec.template.spec;
    expect(containers.map(({ name, image }) => [name, image])).toEqual([
      ['worker', SETTINGS.worker_image],
      ['agent', SETTINGS.image],
    ]);
    const users = containers.map(({ securityContext }) => (securityContext as { runAsUser: number }).runAsUser);
    expect(new Set(users).size).toBe(2);
    const [ofWorker = [], ofAgent = []] = containers.map(({ volumeMounts }) =>
      (volumeMounts as { name: string }[]).map(({ name }) => name),
    );
    expect(ofWorker.filter((name) => ofAgent.includes(name))).toEqual(['workspace', 'socket']);
  });

  it('contains the token only as a mounted secret of the worker, which the cluster deletes with the job', () => {
    const name = 'sluice-01ka3v9q0000000000000000rn-930bbdc51b';
    expect(JSON.stringify(render())).not.toContain('secret-token');
    const { containers, ...spec } = render().spec.template.spec;
    expect(spec['volumes']).toContainEqual({ name: 'token', secret: { secretName: name, defaultMode: 0o440 } });
    expect(containers.map((container) => JSON.stringify(container).includes('"token"'))).toEqual([true, false]);
    expect(renderSecret(RUN, { name: 'job', uid: 'u1' })).toMatchObject({
      metadata: { name, ownerReferences: [{ kind: 'Job', name: 'job', uid: 'u1' }] },
      immutable: true,
      stringData: { token: 'secret-token' },
    });
  });

  it('asks for what the run names: image, size, service account, secrets, nodes', () => {
    const { spec } = render(
      {
        image: 'other:2',
        cpu: 1.5,
        memory: '512Mi',
        gpu: 2,
        service_account: 'builder',
        secrets: ['openai'],
        node_selector: { pool: 'agents' },
        tolerations: [{ key: 'agents', operator: 'Exists' }],
      },
      { runtime_class: 'gvisor', service_account: 'ignored' },
    ).spec.template;
    expect(spec).toMatchObject({
      serviceAccountName: 'builder',
      runtimeClassName: 'gvisor',
      nodeSelector: { pool: 'agents' },
      tolerations: [{ key: 'agents', operator: 'Exists' }],
    });
    const size = { cpu: '1.5', memory: '512Mi', 'nvidia.com/gpu': '2' };
    const [worker, agent] = spec.containers;
    expect(worker).toMatchObject({ envFrom: [{ secretRef: { name: 'openai' } }] });
    expect(agent).toMatchObject({ image: 'other:2', resources: { requests: size, limits: size } });
  });

  it('is merged with the template of the configuration: named entries by name, other values replaced', () => {
    const template = {
      metadata: { labels: { team: 'a' } },
      spec: {
        priorityClassName: 'low',
        containers: [
          {
            name: 'agent',
            env: [
              { name: 'HOME', value: '/root' },
              { name: 'MORE', value: '1' },
            ],
          },
        ],
        volumes: [{ name: 'workspace', emptyDir: { sizeLimit: '5Gi' } }],
      },
    };
    const merged = render({}, { template }).spec.template;
    expect(merged.metadata.labels).toMatchObject({ team: 'a', 'sluice.run': RUN.id });
    expect(merged.spec['priorityClassName']).toBe('low');
    const [, agent] = merged.spec.containers;
    expect(agent).toMatchObject({
      image: SETTINGS.image,
      env: [
        { name: 'HOME', value: '/root' },
        { name: 'MORE', value: '1' },
      ],
    });
    expect(merged.spec['volumes']).toContainEqual({ name: 'workspace', emptyDir: { sizeLimit: '5Gi' } });
  });

  it('is refused without an image', () => {
    expect(() => renderJob(RUN, {})).toThrow(/placements\.kubernetes\.image/);
    expect(() => renderJob(RUN, { image: 'agents:1' })).toThrow(/placements\.kubernetes\.worker_image/);
  });
});
