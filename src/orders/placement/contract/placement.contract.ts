import { describe, expect, it } from 'vitest';
import type { PlacedRun, Placement, PlacementHandle } from '../port.js';

/** A placement under test, and what happens in its places. */
export interface PlacementSite {
  readonly placement: Placement;
  /** Opens the placement again, as a restarted or another server does. */
  readonly reopen: () => Promise<Placement>;
  /** Lets the process of a place start, if it does not by itself. */
  readonly begin: (handle: PlacementHandle) => Promise<void>;
  /** Ends the process of a place, as if by itself. */
  readonly end: (handle: PlacementHandle) => Promise<void>;
  /** Counts the places of a run that exist. */
  readonly count: (run: string) => Promise<number>;
}

const RUN: PlacedRun = { id: '01KAAAAAAAAAAAAAAAAAAAAAAA', server: 'https://sluice.example.org', token: 'slr_token' };
const OTHER: PlacedRun = { ...RUN, id: '01KBBBBBBBBBBBBBBBBBBBBBBB', token: 'slr_other' };

/** The behaviour that every placement must have. `open` creates one without places. */
export function describePlacement(name: string, open: () => Promise<PlacementSite>): void {
  describe(`the placement ${name}`, () => {
    it('starts a place, and reports how it goes on', async () => {
      const { placement, begin, end } = await open();
      const handle = await placement.place(RUN);
      expect(handle.run).toBe(RUN.id);
      expect((await placement.state(handle)).state).toMatch(/^(?:pending|alive)$/);
      await begin(handle);
      await expect.poll(async () => (await placement.state(handle)).state).toBe('alive');
      await end(handle);
      await expect.poll(async () => (await placement.state(handle)).state).toBe('gone');
    });

    it('starts one place for a run, however often and by how many servers it is asked', async () => {
      const { placement, reopen, count } = await open();
      const other = await reopen();
      const handles = await Promise.all([placement.place(RUN), other.place(RUN), placement.place(RUN)]);
      handles.push(await other.place({ ...RUN, token: 'slr_later' }));
      expect(new Set(handles.map(({ name: place, uid }) => `${place} ${uid ?? ''}`)).size).toBe(1);
      expect(await count(RUN.id)).toBe(1);
    });

    it('lists its places after a crash', async () => {
      const { placement, reopen } = await open();
      expect(await placement.list()).toEqual([]);
      const handles = [await placement.place(RUN), await placement.place(OTHER)];
      const found = await (await reopen()).list();
      expect(found.toSorted((one, another) => one.run.localeCompare(another.run))).toEqual(handles);
      const [first = handles[0]] = found;
      expect((await placement.state(first as PlacementHandle)).state).toMatch(/^(?:pending|alive)$/);
    });

    it('stops a place; stopping it again is harmless', async () => {
      const { placement, begin } = await open();
      const handle = await placement.place(RUN);
      const other = await placement.place(OTHER);
      await begin(handle);
      await placement.stop(handle, 1);
      await placement.stop(handle, 1);
      await expect.poll(async () => (await placement.state(handle)).state).toMatch(/^(?:gone|unknown)$/);
      await expect.poll(async () => placement.list()).toEqual([other]);
      expect((await placement.state(other)).state).toMatch(/^(?:pending|alive)$/);
    });

    it('does not report a place as gone without proof', async () => {
      const { placement } = await open();
      const handle = await placement.place(RUN);
      expect((await placement.state({ ...handle, uid: 'another' })).state).toBe('unknown');
      expect((await placement.state({ run: OTHER.id, name: 'sluice-no-such-place', uid: 'none' })).state).toBe(
        'unknown',
      );
      await placement.stop({ ...handle, uid: 'another' }, 0);
      expect((await placement.state(handle)).state).toMatch(/^(?:pending|alive)$/);
    });
  });
}
