// What the program writes into the page. DATA.md describes the same in words; change both together.

export const CONTRACT_VERSION = 1;

/** JSON has no infinities: these are written as text, and a value that does not exist as null. */
export type Num = number | 'Infinity' | '-Infinity' | 'NaN' | null;
export type Vec3 = [number, number, number];
export type Quat = [number, number, number, number]; // w, x, y, z

export type BlockType = 'float64' | 'float32' | 'uint32' | 'int32' | 'uint16' | 'int16';
export interface BlockInfo {
  type: BlockType;
  count: number;
  encoding?: 'base64' | 'deflate-base64';
}

export interface Doubt {
  cause: string;
  value: Num;
  remedy: string;
}
export interface Verdict {
  sound: boolean;
  doubts: Doubt[];
}
export interface Fact {
  what: string;
  symbol?: string;
  value?: Num;
  text?: string;
  note?: string;
  /** Shown on the logarithmic gauge: an error, whose size matters. */
  error?: boolean;
}
export interface FactList {
  title: string;
  facts: Fact[];
}
export type RunStatus = 'running' | 'finished' | 'stopped' | 'failed';

export interface Summary {
  title: string;
  program?: string;
  created?: string;
  settings?: string;
  status: RunStatus;
  message?: string;
  verdict?: Verdict;
  warnings?: string[];
  remarks?: string[];
  method: { name: string; description?: string; order?: number; facts?: string[] };
  time: {
    start: number;
    end: number;
    step?: number;
    steps: number;
    rejected?: number;
    shortest?: number;
    longest?: number;
    tolerance?: { relative: number; absolute: number };
  };
  preserved?: Fact[];
  sections?: FactList[];
  cost?: Fact[];
}

export const COLUMN_KINDS = [
  'coordinate', 'velocity', 'momentum', 'energy', 'energy-error', 'momentum-map', 'constraint', 'hidden-constraint',
  'multiplier', 'reaction', 'quantity', 'gap', 'contacts', 'step', 'iterations', 'residual',
] as const;
export type ColumnKind = (typeof COLUMN_KINDS)[number];
export interface ColumnInfo {
  name: string;
  block: number;
  kind: ColumnKind;
  unit?: string;
  /** Columns of a kind with the same group share a plot: "q1" for q1[0], q1[1], q1[2]. */
  group?: string;
}
export interface TableInfo {
  name: string;
  rows: number;
  time: number;
  columns: ColumnInfo[];
  /** Rows were thinned by the writer: each `bucket` rows of `from` became two, minimum and maximum in order. */
  thinned?: { from: number; bucket: number };
}

export interface Quantised {
  block: number;
  components: 2 | 3;
  min: number[];
  max: number[];
}
export interface MotionInfo {
  count: number;
  positions: Quantised;
  rotations?: { block: number; components: 2 | 4 };
}
export type Place = { motion: number; index: number } | { position: number[]; rotation?: Quat };
export interface Anchor {
  at: Place;
  offset?: number[];
}
export type ShapeInfo = { position?: number[]; rotation?: Quat } & (
  | { kind: 'sphere'; radius: number }
  | { kind: 'box'; size: number[] }
  | { kind: 'cylinder'; radius: number; length: number }
  | { kind: 'capsule'; radius: number; length: number }
  | { kind: 'plane'; normal: number[] }
  | { kind: 'mesh'; vertices: number[][]; triangles?: number[][] }
);
export interface BodyInfo {
  name: string;
  at: Place;
  shapes: ShapeInfo[];
}
export interface ParticlesInfo {
  name: string;
  motion: number;
  radius?: number;
  radii?: number;
}
export interface PointInfo {
  name: string;
  at: Place;
  radius?: number;
}
export interface RodInfo {
  name: string;
  a: Anchor;
  b: Anchor;
  kind?: 'rod' | 'spring' | 'line';
}
export type SurfaceInfo =
  | { kind: 'sphere'; name: string; centre: Anchor; radius: number }
  | { kind: 'plane'; name: string; point: number[]; normal: number[] }
  | { kind: 'grid'; name: string; rows: number; columns: number; points: number }
  | { kind: 'curve'; name: string; points: number; closed?: boolean }
  | { kind: 'mesh'; name: string; points: number; triangles?: number; lines?: number };
export interface JointInfo {
  name: string;
  kind: 'spherical' | 'revolute' | 'prismatic' | 'cylindrical' | 'universal' | 'fixed' | 'rod';
  a: Anchor;
  axis?: number[];
}
export interface ContactsInfo {
  start: number;
  points: Quantised;
  bodies: number;
  forces: { block: number; components: 2 | 3 };
  unit?: string;
}
export interface SceneInfo {
  dimension: 2 | 3;
  up?: number[];
  bounds?: { min: number[]; max: number[] };
  frames: { count: number; time: number };
  motions: MotionInfo[];
  bodies?: BodyInfo[];
  particles?: ParticlesInfo[];
  points?: PointInfo[];
  rods?: RodInfo[];
  surfaces?: SurfaceInfo[];
  joints?: JointInfo[];
  trails?: { name: string; of: Anchor }[];
  contacts?: ContactsInfo;
}

export interface LiveOption {
  name: string;
  value: string;
  meaning?: string;
  unit?: string;
  words?: string[];
}
export interface LiveInfo {
  token: string;
  run: string;
  poll_ms?: number;
  form?: {
    parameters: LiveOption[];
    method: string;
    methods: { name: string; meaning?: string; options?: LiveOption[] }[];
    step?: string;
    tolerance?: string;
    end?: string;
  };
}

export interface ReportData extends Summary {
  hinge: number;
  model?: { name: string; text: string };
  events?: { t: number; name: string }[];
  blocks: BlockInfo[];
  tables: TableInfo[];
  scene?: SceneInfo;
  live?: LiveInfo;
}
