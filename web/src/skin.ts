/** The skinned mesh of a GLB file, posed by the frames from the server; the animation in the file is not played. */
import * as THREE from "three";
import { GLTFLoader, type GLTF } from "three/examples/jsm/loaders/GLTFLoader.js";
import type { Frame } from "./frames";

/** A node that corresponds to a joint of the motion, and its world rotation and scale in the rest pose. */
interface Hung {
  node: THREE.Object3D;
  joint: number;
  rest: THREE.Matrix4;
}

/** Fetch the GLB file at `url` and find the motion's joints in it. Throws an error if no mesh is bound to them. */
export async function loadSkin(url: string, joints: readonly string[]): Promise<Skin> {
  const reply = await fetch(url, { credentials: "same-origin" });
  if (!reply.ok) throw new Error((await reply.text()).trim());
  return readSkin(await reply.arrayBuffer(), joints);
}

/** Do the same with the bytes of a GLB file. */
export async function readSkin(bytes: ArrayBuffer, joints: readonly string[]): Promise<Skin> {
  const manager = new THREE.LoadingManager();
  manager.setURLModifier((asked) => {
    if (!asked.startsWith("blob:")) throw new Error("it refers to other files, which cannot be loaded");
    return asked;
  });
  return new Skin(await new GLTFLoader(manager).parseAsync(bytes, ""), joints);
}

export class Skin {
  readonly group = new THREE.Group();
  readonly meshes: THREE.Mesh[] = [];
  private readonly hung: Hung[] = [];
  private readonly turn = new THREE.Quaternion();

  constructor(file: GLTF, joints: readonly string[]) {
    const { scene } = file;
    this.group.add(scene);
    scene.updateMatrixWorld(true);
    const nodes = nodesByName(file);
    joints.forEach((name, joint) => {
      const node = nodes.get(name);
      if (node) this.hung.push({ node, joint, rest: node.matrixWorld.clone().setPosition(0, 0, 0) });
    });
    scene.traverse((node) => {
      if (node instanceof THREE.Mesh) this.meshes.push(node);
    });
    const moving = this.meshes.some((mesh) => mesh instanceof THREE.SkinnedMesh || this.hangs(mesh));
    if (!moving || !this.hung.length) throw new Error("no mesh is skinned to these joints");
    for (const mesh of this.meshes) {
      // Its bounding box is that of the rest pose, so culling would be wrong.
      mesh.frustumCulled = false;
      mesh.castShadow = true;
    }
    // The frames have world transforms, so each joint becomes a child of the group. Other children of a joint stay
    // attached to it.
    for (const { node } of this.hung) {
      node.matrixAutoUpdate = false;
      this.group.add(node);
    }
  }

  /**
   * Set the pose of a frame. The world matrix of a node is that of the joint times the node's rest rotation and scale.
   */
  pose(frame: Frame): void {
    for (const { node, joint, rest } of this.hung) {
      this.turn.fromArray(frame.rotations, frame.rotationOffset + 4 * joint);
      node.matrix.makeRotationFromQuaternion(this.turn).multiply(rest);
      const at = frame.offset + 3 * joint;
      node.matrix.setPosition(frame.positions[at]!, frame.positions[at + 1]!, frame.positions[at + 2]!);
      node.matrixWorldNeedsUpdate = true;
    }
  }

  dispose(): void {
    this.group.removeFromParent();
    for (const mesh of this.meshes) {
      mesh.geometry.dispose();
      if (mesh instanceof THREE.SkinnedMesh) mesh.skeleton.dispose();
      for (const material of [mesh.material].flat()) {
        for (const value of Object.values(material)) if (value instanceof THREE.Texture) value.dispose();
        material.dispose();
      }
    }
  }

  private hangs(mesh: THREE.Object3D): boolean {
    for (let node: THREE.Object3D | null = mesh; node; node = node.parent) {
      if (this.hung.some((each) => each.node === node)) return true;
    }
    return false;
  }
}

/**
 * Map joint names to nodes, named as the file reader does: by marey's own name, the node's name, or its number; a
 * duplicate gets "_2".
 */
function nodesByName(file: GLTF): Map<string, THREE.Object3D> {
  const nodes = new Map<string, THREE.Object3D>();
  const all: THREE.Object3D[] = [];
  file.scene.traverse((node) => all.push(node));
  // If a mesh and a joint have the same name, the joint comes first.
  for (const node of [...all.filter((each) => each instanceof THREE.Bone), ...all.filter((each) => !(each instanceof THREE.Bone))]) {
    const number = file.parser.associations.get(node)?.nodes;
    if (number === undefined) continue;
    const { marey, name } = node.userData as { marey?: { joint?: unknown }; name?: unknown };
    const given = [marey?.joint, name].find((each): each is string => typeof each === "string" && each !== "");
    const base = given ?? `node_${number}`;
    let free = base;
    for (let k = 2; nodes.has(free); k++) free = `${base}_${k}`;
    nodes.set(free, node);
  }
  return nodes;
}
