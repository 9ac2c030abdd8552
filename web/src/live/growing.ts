// Arrays that grow at their end without being copied each time.

type Grown = Float64Array | Float32Array;

export class Growing<T extends Grown> {
  private buffer: T;
  length: number;

  constructor(initial: ArrayLike<number>, private make: (length: number) => T) {
    this.buffer = make(Math.max(64, initial.length));
    this.buffer.set(initial);
    this.length = initial.length;
  }
  append(more: ArrayLike<number>): void {
    const needed = this.length + more.length;
    if (needed > this.buffer.length) {
      const larger = this.make(Math.max(needed, 2 * this.buffer.length));
      larger.set(this.buffer.subarray(0, this.length));
      this.buffer = larger;
    }
    this.buffer.set(more, this.length);
    this.length = needed;
  }
  /** What there is, without a copy. */
  view(): T {
    return this.buffer.subarray(0, this.length) as T;
  }
}

export const growingDoubles = (initial: ArrayLike<number>): Growing<Float64Array> => new Growing(initial, (n) => new Float64Array(n));
export const growingFloats = (initial: ArrayLike<number>): Growing<Float32Array> => new Growing(initial, (n) => new Float32Array(n));
