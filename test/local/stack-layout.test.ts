import { describe, expect, test } from 'vitest';
import { MAXIMUM_NODES } from '../../local/stack/addresses.ts';
import { layoutOf, macAddress } from '../../local/stack/layout.ts';

const LONGEST = 'a-name-of-20-letters';

describe('layoutOf', () => {
  test('keeps interface names within the 15 characters that Linux has', () => {
    const layout = layoutOf(LONGEST, '/cache/stacks');
    const links = [layout.bridge, layout.temporalLink, layout.nodeLink(MAXIMUM_NODES), layout.nodeLink(1)];
    for (const link of links) expect(link).toMatch(/^[a-z0-9]{1,15}$/);
    expect(new Set(links).size).toBe(links.length);
  });

  test('shares nothing between stacks of other names, or of the same name in another cache', () => {
    const layouts = [layoutOf('demo', '/one'), layoutOf('test', '/one'), layoutOf('demo', '/two')];
    for (const key of ['id', 'directory', 'bridge', 'cgroup', 'lockFile', 'temporalLink'] as const) {
      expect(new Set(layouts.map(layout => layout[key])).size).toBe(3);
    }
    expect(new Set(layouts.map(layout => macAddress(layout, 'host'))).size).toBe(3);
  });

  test('keeps the lock outside of the folder that a wipe removes', () => {
    const layout = layoutOf('demo', '/cache/stacks');
    expect(layout.lockFile.startsWith(`${layout.directory}/`)).toBe(false);
    expect(layout.stateFile.startsWith(`${layout.directory}/`)).toBe(true);
  });

  test.each(['a', 'demo', 't-1', LONGEST])('takes the name %s', name => {
    expect(layoutOf(name, '/cache').nodeName(3)).toBe(`${name}-3`);
  });

  test.each(['', 'Demo', '1st', 'a_b', 'a/b', '..', '-a', 'a-', `${LONGEST}s`, 'a b'])('refuses %j', name => {
    expect(() => layoutOf(name, '/cache')).toThrow('use 1 to 20 lower-case letters');
  });
});

test('MAC addresses are stable, unicast and locally administered', () => {
  const layout = layoutOf('demo', '/cache');
  const address = macAddress(layout, 'demo-1');
  expect(address).toBe(macAddress(layout, 'demo-1'));
  expect(address).toMatch(/^02(:[0-9a-f]{2}){5}$/);
  expect(address).not.toBe(macAddress(layout, 'demo-2'));
});
