/**
 * Twenty clusters, and operators with a fifth of a processor each that are killed while they are created, upgraded and restored:
 * beside busy neighbours, and with servers that falter or are far away. Sixty members at rest would take most of two cores, so most
 * clusters have one.
 */
import { vi } from 'vitest';
import { pressureDrill } from '../../stack/drill/pressure.ts';

const fleet = { ones: 16, threes: 4, patienceMs: 900_000 };
const smaller = { ones: 6, threes: 1, patienceMs: 900_000 };
vi.setConfig({ testTimeout: 1_200_000 });

pressureDrill(
  'beside one busy neighbour',
  { ...fleet, namespace: 'drill-pressure-neighbour' },
  { neighbours: 1 },
);
pressureDrill(
  'beside two busy neighbours',
  { ...fleet, namespace: 'drill-pressure-busy' },
  { neighbours: 2 },
);
pressureDrill(
  'with 1 % of all calls to the apiserver late by 5 s, and 1 % refused',
  { ...smaller, namespace: 'drill-pressure-one' },
  { faults: 0.01 },
);
pressureDrill(
  'with 5 % of all calls to the apiserver late by 5 s, and 5 % refused',
  { ...smaller, namespace: 'drill-pressure-five' },
  { faults: 0.05 },
);
pressureDrill(
  'with a Temporal that takes half a second for every call',
  { ...smaller, namespace: 'drill-pressure-far' },
  { temporalMs: 500 },
);
