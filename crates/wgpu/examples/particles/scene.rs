//! The scene: a galaxy of translucent particles, and the frame that a renderer would have, in one command
//! encoder. The host reads nothing of it:
//!
//!     turn      compute   the particles move
//!     depths    compute   depth and number of each particle in front of the camera, and how many there are
//!     sort      compute   farthest first; this is what `sweepsort-wgpu` is for
//!     draw      render    an instance for each, in that order, blended over what is behind it

use std::error::Error;
use std::path::Path;
use std::str::FromStr;
use std::sync::mpsc;

use sweepsort_wgpu::{Adapter, Bound, Buffers, Kernels, Order, Plan, Shape, Spec, Width};
use wgpu::BufferUsages as Usage;
use wgpu::util::{BufferInitDescriptor, DeviceExt};

/// Place and radius; colour and opacity.
pub type Particle = [[f32; 4]; 2];

/// What is nearer to the camera is not drawn.
pub const NEAR: f32 = 0.05;

/// Particles at most: they fill 128 MiB, which every device can bind.
const MOST: u32 = 1 << 22;

/// Threads of a workgroup of the compute shaders.
const THREADS: u32 = 256;

/// Where the galaxy is, and how far its plane is turned towards the camera, in radians.
const CENTRE: [f32; 3] = [0.0, -0.1, 1.1];
const TILT: f32 = 0.4;

/// Byte of the draw call's arguments that the number of instances begins at.
const INSTANCES: u64 = 4;

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u32, pub u32);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let side = |text: &str| text.parse().ok().filter(|side| (1..=8192).contains(side));
        let sides = text.split_once('x').map(|(w, h)| (side(w), side(h)));
        match sides {
            Some((Some(width), Some(height))) => Ok(Size(width, height)),
            _ => Err("this is no WIDTHxHEIGHT of 1 to 8192 pixels each".to_owned()),
        }
    }
}

/// All that a renderer makes once.
pub struct Scene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    particles: wgpu::Buffer,
    /// The arguments of the draw call, with the number of particles to be sorted and drawn.
    draw_call: wgpu::Buffer,
    groups: u32,
    turn: (wgpu::ComputePipeline, wgpu::BindGroup),
    depths: (wgpu::ComputePipeline, wgpu::BindGroup),
    sort: Bound,
    draw: (wgpu::RenderPipeline, wgpu::BindGroup),
    target: wgpu::Texture,
}

impl Scene {
    pub fn new(adapter: &Adapter, count: u32, size: Size) -> Result<Scene, Box<dyn Error>> {
        if !(1..=MOST).contains(&count) {
            return Err(format!("{count} particles: there can be 1 to {MOST}").into());
        }
        // The device is the renderer's own. Subgroups make the sort faster, but are not needed.
        let (device, queue) =
            pollster::block_on(adapter.wgpu().request_device(&wgpu::DeviceDescriptor {
                required_features: adapter.wgpu().features() & wgpu::Features::SUBGROUP,
                required_limits: adapter.wgpu().limits(),
                ..Default::default()
            }))?;
        let buffer = |size: u64, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage,
                mapped_at_creation: false,
            })
        };
        let filled = |contents: &[u8], usage| {
            device.create_buffer_init(&BufferInitDescriptor {
                label: None,
                contents,
                usage,
            })
        };
        let particles = filled(
            bytemuck::cast_slice(&galaxy(count)),
            Usage::STORAGE | Usage::COPY_SRC,
        );
        let depths = buffer(4 * u64::from(count), Usage::STORAGE);
        let order = buffer(4 * u64::from(count), Usage::STORAGE);
        // A quad's four corners, no instance yet.
        let draw_call = filled(
            bytemuck::cast_slice(&[4u32, 0, 0, 0]),
            Usage::STORAGE | Usage::INDIRECT | Usage::COPY_SRC | Usage::COPY_DST,
        );

        // The plan is for all particles; how many there really are is read from the draw call's arguments.
        let mut farthest_first = Spec::natural::<f32>();
        farthest_first.codec.order = Order::Descending;
        let shape = Shape::pairs(count as usize, Width::W32, 4);
        let plan = Plan::new(&Kernels::new(&device), &shape, &farthest_first)?;
        let workspace = buffer(plan.workspace_bytes(), Plan::WORKSPACE_USAGE);
        let sort = plan.bind(&Buffers {
            keys: depths.slice(..),
            values: Some(order.slice(..)),
            count: Some((&draw_call, INSTANCES)),
            workspace: workspace.slice(..),
        })?;

        let target = device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d {
                width: size.0,
                height: size.1,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let compute = |text, constants: &[(&str, f64)], buffers: &[&wgpu::Buffer]| {
            let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: None,
                module: &shader(&device, text),
                entry_point: None,
                compilation_options: options(constants),
                cache: None,
            });
            let group = group(&device, &pipeline.get_bind_group_layout(0), buffers);
            (pipeline, group)
        };
        let turn = compute(
            include_str!("turn.wgsl"),
            &[
                ("CENTRE_Y", CENTRE[1].into()),
                ("CENTRE_Z", CENTRE[2].into()),
                ("TILT", TILT.into()),
            ],
            &[&particles],
        );
        let project = compute(
            include_str!("depths.wgsl"),
            &[("NEAR", NEAR.into())],
            &[&particles, &depths, &order, &draw_call],
        );
        let pipeline = blending(&device, target.format(), size);
        let layout = pipeline.get_bind_group_layout(0);
        let group = group(&device, &layout, &[&particles, &order]);
        Ok(Scene {
            groups: count.div_ceil(THREADS),
            turn,
            depths: project,
            sort,
            draw: (pipeline, group),
            target,
            particles,
            draw_call,
            device,
            queue,
        })
    }

    /// A frame, from the particles' motion to the picture: one encoder, one submission, no wait.
    pub fn frame(&self) {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.clear_buffer(&self.draw_call, INSTANCES, Some(4));
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for (pipeline, group) in [&self.turn, &self.depths] {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass.dispatch_workgroups(self.groups, 1, 1);
        }
        drop(pass);

        self.sort.encode(&mut encoder);

        let view = self.target.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        let (pipeline, group) = &self.draw;
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.draw_indirect(&self.draw_call, 0);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    /// The last frame, row by row, four bytes a pixel.
    pub fn picture(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let bytes = 4 * self.target.width();
        let padded = bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let rows = self.read(u64::from(padded * self.target.height()), |encoder, to| {
            let layout = wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(padded),
                rows_per_image: None,
            };
            let to = wgpu::TexelCopyBufferInfo { buffer: to, layout };
            encoder.copy_texture_to_buffer(self.target.as_image_copy(), to, self.target.size());
        })?;
        let rows = rows.chunks_exact(padded as usize);
        Ok(rows
            .flat_map(|row| &row[..bytes as usize])
            .copied()
            .collect())
    }

    /// How many particles are in front of the camera.
    pub fn visible(&self) -> Result<u32, Box<dyn Error>> {
        let bytes = self.read(4, |encoder, to| {
            encoder.copy_buffer_to_buffer(&self.draw_call, INSTANCES, to, 0, 4);
        })?;
        Ok(bytemuck::pod_read_unaligned(&bytes))
    }

    /// The particles, as they are in the last frame.
    #[allow(dead_code, reason = "the test compares the picture with them")]
    pub fn particles(&self) -> Result<Vec<Particle>, Box<dyn Error>> {
        let size = self.particles.size();
        let bytes = self.read(size, |encoder, to| {
            encoder.copy_buffer_to_buffer(&self.particles, 0, to, 0, size);
        })?;
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }

    /// Waits for what `copy` puts into a buffer of so many bytes.
    fn read(
        &self,
        size: u64,
        copy: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    ) -> Result<Vec<u8>, Box<dyn Error>> {
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage: Usage::MAP_READ | Usage::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.device.create_command_encoder(&Default::default());
        copy(&mut encoder, &buffer);
        self.queue.submit([encoder.finish()]);
        let (sender, receiver) = mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
            // The receiver is there until the wait below has ended.
            let _ = sender.send(mapped);
        });
        self.device.poll(wgpu::PollType::wait_indefinitely())?;
        receiver.recv()??;
        Ok(buffer.get_mapped_range(..)?.to_vec())
    }
}

/// Writes a picture of four bytes a pixel.
pub fn write_png(path: &Path, size: Size, picture: &[u8]) -> Result<(), Box<dyn Error>> {
    let file =
        std::fs::File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), size.0, size.1);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture)?;
    Ok(writer.finish()?)
}

/// The pipeline that draws quads, each blended over what is there.
fn blending(
    device: &wgpu::Device,
    format: wgpu::TextureFormat,
    size: Size,
) -> wgpu::RenderPipeline {
    let module = shader(device, include_str!("draw.wgsl"));
    let aspect = [("ASPECT", f64::from(size.0) / f64::from(size.1))];
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: None,
            compilation_options: options(&aspect),
            buffers: &[],
        },
        primitive: wgpu::PrimitiveState {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            ..Default::default()
        },
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: None,
            compilation_options: options(&aspect),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(wgpu::BlendState::ALPHA_BLENDING),
                write_mask: wgpu::ColorWrites::ALL,
            })],
        }),
        multiview_mask: None,
        cache: None,
    })
}

fn shader(device: &wgpu::Device, text: &str) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl([include_str!("particle.wgsl"), text].concat().into()),
    })
}

fn options<'a>(constants: &'a [(&'a str, f64)]) -> wgpu::PipelineCompilationOptions<'a> {
    wgpu::PipelineCompilationOptions {
        constants,
        ..Default::default()
    }
}

/// Buffers at bindings 0, 1 and so on.
fn group(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry {
            binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &entries,
    })
}

/// A spiral galaxy of stars and of dust, which darkens what is behind it. Some of it is behind the camera.
fn galaxy(count: u32) -> Vec<Particle> {
    let mut state = 1u64;
    // Uniform in [0, 1), by a linear congruential generator: the same galaxy every time.
    let mut random = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let size = 4.0 / (count as f32).sqrt();
    let (sin, cos) = TILT.sin_cos();
    (0..count)
        .map(|i| {
            let far = 1.7 * random().powf(0.7);
            let spread = (random() + random() + random() - 1.5) * 1.3;
            let arm = (i % 2) as f32 * std::f32::consts::PI;
            let (y, x) = (arm + 3.0 * (far + 0.1).ln() + spread).sin_cos();
            let (u, v) = (far * x, far * y);
            let up = (random() + random() - 1.0) * (0.05 + 0.2 * (-6.0 * far).exp());
            let place = [
                CENTRE[0] + u,
                CENTRE[1] + v * sin + up * cos,
                CENTRE[2] + v * cos - up * sin,
            ];
            let rim = (far / 1.2).min(1.0);
            let colour = match i % 5 {
                0 => [0.10, 0.05, 0.06, 0.9],
                _ => [1.0 - 0.75 * rim, 0.85 - 0.4 * rim, 0.55 + 0.4 * rim, 0.5],
            };
            let radius = size * (0.4 + random());
            [[place[0], place[1], place[2], radius], colour]
        })
        .collect()
}
