// Which spheres of a heap are seen at all. Spheres are taken from the front to the back; each covers the cells of a coarse
// picture that lie wholly inside its disk, and one whose cells are all covered by nearer ones is left out. Only spheres
// that cannot be seen are left out, never one that can.

const CELL = 2; // pixels

export class SphereSorter {
  private order: Uint32Array;
  private covered = new Uint8Array(0);
  private wide = 0;
  private high = 0;

  constructor(private count: number) {
    this.order = new Uint32Array(count);
  }

  private sort(depth: Float32Array): void {
    const buckets = 2048;
    let low = Infinity;
    let high = -Infinity;
    for (let i = 0; i < this.count; ++i) {
      const d = depth[i]!;
      if (d < low) low = d;
      if (d > high) high = d;
    }
    const scale = high > low ? (buckets - 1) / (high - low) : 0;
    const starts = new Uint32Array(buckets + 1);
    for (let i = 0; i < this.count; ++i) ++starts[1 + Math.floor((depth[i]! - low) * scale)]!;
    for (let b = 0; b < buckets; ++b) starts[b + 1]! += starts[b]!;
    for (let i = 0; i < this.count; ++i) this.order[starts[Math.floor((depth[i]! - low) * scale)]!++] = i;
  }

  /** True where some cell that the disk touches is not covered yet. */
  private seen(x: number, y: number, r: number): boolean {
    const top = Math.max(0, Math.floor(y - r));
    const bottom = Math.min(this.high - 1, Math.floor(y + r));
    for (let row = top; row <= bottom; ++row) {
      const dy = row > y ? row - y : row + 1 < y ? y - row - 1 : 0;
      const half = Math.sqrt(Math.max(0, r * r - dy * dy));
      const left = Math.max(0, Math.floor(x - half));
      const right = Math.min(this.wide - 1, Math.floor(x + half));
      for (let at = row * this.wide + left; at <= row * this.wide + right; ++at) if (this.covered[at] === 0) return true;
    }
    return false;
  }

  private cover(x: number, y: number, r: number): void {
    const top = Math.max(0, Math.ceil(y - r));
    const bottom = Math.min(this.high - 1, Math.floor(y + r) - 1);
    for (let row = top; row <= bottom; ++row) {
      const dy = Math.max(Math.abs(row - y), Math.abs(row + 1 - y));
      if (dy >= r) continue;
      const half = Math.sqrt(r * r - dy * dy);
      const left = Math.max(0, Math.ceil(x - half));
      const right = Math.min(this.wide, Math.floor(x + half));
      if (right > left) this.covered.fill(1, row * this.wide + left, row * this.wide + right);
    }
  }

  /** Writes the numbers of the spheres that are seen to `out`, nearest first, and returns how many they are. */
  visible(x: Float32Array, y: Float32Array, radius: Float32Array, depth: Float32Array, width: number, height: number, out: Uint32Array): number {
    const wide = Math.ceil(width / CELL);
    const high = Math.ceil(height / CELL);
    if (wide !== this.wide || high !== this.high) this.covered = new Uint8Array(wide * high);
    else this.covered.fill(0);
    this.wide = wide;
    this.high = high;
    this.sort(depth);
    let count = 0;
    for (let k = 0; k < this.count; ++k) {
      const i = this.order[k]!;
      const r = radius[i]! / CELL;
      if (!(r > 0) || depth[i]! <= 0) continue;
      const cx = x[i]! / CELL;
      const cy = y[i]! / CELL;
      if (cx + r < 0 || cy + r < 0 || cx - r > wide || cy - r > high || !this.seen(cx, cy, r)) continue;
      this.cover(cx, cy, r);
      out[count++] = i;
    }
    return count;
  }
}
